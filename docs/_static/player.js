// The picture of a run, with a button and a slider instead of an endless animation.
for (const box of document.querySelectorAll(".run-player")) {
  const picture = box.querySelector("svg.run");
  const frames = [...picture.querySelectorAll(".frame")];
  const last = frames.length - 1;
  const controls = document.createElement("div");
  controls.className = "run-controls";
  controls.innerHTML =
    '<button type="button"></button><input type="range" min="0" value="0" aria-label="Moment of the run">';
  const [button, slider] = controls.children;
  slider.max = last;
  picture.classList.add("stepped");
  box.append(controls);

  // On a phone the tree and the evidence go below the samples, so that the text stays readable.
  const phone = matchMedia("(max-width: 600px)");
  const arrange = () => {
    picture.classList.toggle("narrow", phone.matches);
    picture.setAttribute("viewBox", phone.matches ? "0 0 460 610" : "0 0 660 400");
    for (const line of picture.querySelectorAll(".more")) {
      if (phone.matches) line.setAttribute("x", 18);
      else line.removeAttribute("x");
      line.setAttribute("dy", phone.matches ? 20 : 0);
    }
  };
  phone.addEventListener("change", arrange);
  arrange();

  let timer = null;
  const show = (i) => {
    frames.forEach((frame, j) => frame.classList.toggle("shown", i === j));
    slider.value = i;
    slider.setAttribute("aria-valuetext", frames[i].lastElementChild.textContent);
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    button.textContent = "Play";
  };
  const play = () => {
    if (Number(slider.value) === last) show(0);
    button.textContent = "Pause";
    timer = setInterval(() => {
      show(Number(slider.value) + 1);
      if (Number(slider.value) === last) stop();
    }, 450);
  };
  button.addEventListener("click", () => (timer === null ? play() : stop()));
  slider.addEventListener("input", () => {
    stop();
    show(Number(slider.value));
  });
  show(last);
  stop();
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) play();
}

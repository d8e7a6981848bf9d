"""
Penguins, in a scikit-learn pipeline
====================================

Which species of penguins are alike in bill and flipper? The table has one row per bird; the species is the arm. ``BanditClustering``
works like any other estimator and uses only as many birds as it needs.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import linkarms as la
from linkarms.sklearn import BanditClustering

birds = la.datasets.load_penguins().dropna()
X = birds[["bill_depth_mm", "flipper_length_mm"]]

model = make_pipeline(StandardScaler(), BanditClustering(n_clusters=2, random_state=0))
model.fit(X, banditclustering__groups=birds["species"])
model

# %%
# Two species are in one cluster, one is in the other, and most birds were not needed.

fitted = model[-1]
print(dict(zip(fitted.arms_, fitted.arm_labels_.tolist(), strict=True)))
print(f"{fitted.n_samples_used_} of {len(birds)} birds, stopped: {fitted.stopped_}")

# %%
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for label in sorted(set(fitted.labels_)):
    of_label = X[fitted.labels_ == label]
    ax.scatter(*of_label.to_numpy().T, s=12, label=f"cluster {label}", color=la.plots.cluster_color(label))
ax.set_xlabel("bill depth [mm]")
ax.set_ylabel("flipper length [mm]")
ax.legend()
plt.show()

"""Files in the formats of the modelzoo, made up so that there is something to learn: CSV, tab-separated, Parquet."""

import os

import numpy as np

CRITEO = ["clicked"] + [f"I{i}" for i in range(1, 14)] + [f"C{i}" for i in range(1, 27)]
TAOBAO_LABELS = ["clk", "buy"]
TAOBAO_FEATURES = [
    "pid", "adgroup_id", "cate_id", "campaign_id", "customer", "brand", "user_id", "cms_segid", "cms_group_id",
    "final_gender_code", "age_level", "pvalue_level", "shopping_level", "occupation", "new_user_class_level",
    "tag_category_list", "tag_brand_list", "price",
]  # fmt: skip
AMAZON = ["CLICKED", "UID", "ITEM", "CATEGORY", "HISTORY_ITEM", "HISTORY_CATEGORY"]
NOT_CLICKED = ["NOCLK_HISTORY_ITEM", "NOCLK_HISTORY_CATEGORY"]
BETWEEN = "\x02"  # what separates the items of a history


def write_criteo(folder, rows):
    for name, seed in (("train", 0), ("eval", 1)):
        random = np.random.RandomState(seed)
        numbers = random.rand(rows, 13).round(3)
        ids = random.randint(0, 12, (rows, 26))
        score = 3.0 * (ids[:, 0] % 2) + 2.0 * numbers[:, 0] - 2.5
        label = (random.rand(rows) < 1 / (1 + np.exp(-2 * score))).astype(np.int32)
        columns = {"clicked": label}
        columns.update((f"I{i + 1}", numbers[:, i].astype(np.float32)) for i in range(13))
        columns.update((f"C{i + 1}", [f"{value:x}" for value in ids[:, i]]) for i in range(26))
        _write(os.path.join(folder, name), columns, CRITEO, ",", ".csv")


def write_taobao(folder, rows):
    for name, seed in (("taobao_train_data", 0), ("taobao_test_data", 1)):
        random = np.random.RandomState(seed)
        ids = {feature: random.randint(0, 9, rows) for feature in TAOBAO_FEATURES}
        score = 2.0 * (ids["user_id"] % 2) + 1.5 * (ids["cate_id"] % 2) - 1.5
        clicked = (random.rand(rows) < 1 / (1 + np.exp(-2 * score))).astype(np.int32)
        bought = clicked * (random.rand(rows) < 0.5).astype(np.int32)
        columns = {"clk": clicked, "buy": bought}
        lengths = 1 + random.randint(0, 8, rows)  # both lists of an example are of one length
        for feature, values in ids.items():
            texts = [str(value) for value in values]
            if feature.startswith("tag_"):
                texts = ["|".join(str(item) for item in random.randint(0, 9, length)) for length in lengths]
            columns[feature] = texts
        _write(os.path.join(folder, name), columns, TAOBAO_LABELS + TAOBAO_FEATURES, ",", "")


def write_amazon(folder, rows):
    for name, seed in (("local_train_splitByUser", 0), ("local_test_splitByUser", 1)):
        random = np.random.RandomState(seed)
        items, users = random.randint(0, 20, rows), random.randint(0, 8, rows)
        lengths = random.randint(1, 7, rows)
        label = ((items % 2) ^ (random.rand(rows) < 0.1)).astype(np.int32)
        history = [random.randint(0, 20, length) for length in lengths]
        others = [random.randint(0, 20, length) for length in lengths]
        columns = {
            "CLICKED": label,
            "UID": [f"u{user}" for user in users],
            "ITEM": [f"i{item}" for item in items],
            "CATEGORY": [f"c{item % 5}" for item in items],
            "HISTORY_ITEM": [BETWEEN.join(f"i{item}" for item in found) for found in history],
            "HISTORY_CATEGORY": [BETWEEN.join(f"c{item % 5}" for item in found) for found in history],
        }
        negatives = {
            "NOCLK_HISTORY_ITEM": [BETWEEN.join(f"i{item}" for item in found) for found in others],
            "NOCLK_HISTORY_CATEGORY": [BETWEEN.join(f"c{item % 5}" for item in found) for found in others],
        }
        _write(os.path.join(folder, name), columns, AMAZON, "\t", "")
        _write(os.path.join(folder, f"{name}_neg"), negatives, NOT_CLICKED, "\t", "")
    for name, letter, count in (("uid_voc", "u", 8), ("mid_voc", "i", 20), ("cat_voc", "c", 5)):
        with open(os.path.join(folder, f"{name}.txt"), "w") as file:
            file.write("".join(f"{letter}{i}\n" for i in range(count)))


def _write(path, columns, names, between, suffix):
    with open(path + suffix, "w") as file:
        for row in zip(*[columns[name] for name in names]):
            file.write(between.join(map(str, row)) + "\n")
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(columns), path + ".parquet", row_group_size=100)

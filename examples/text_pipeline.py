"""Texts in a scikit-learn pipeline: TF-IDF, then soft confidence-weighted learning.

python examples/text_pipeline.py
"""

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from cwtool.estimators import SCWClassifier

PARTS = {
    "weather": ["rain", "sun", "wind", "a cold front", "snow", "clouds"],
    "sport": ["the match", "a goal", "the team", "training", "the final", "a record"],
    "food": ["fresh bread", "soup", "a recipe", "olive oil", "the kitchen", "salt"],
}
FRAMES = [
    "{} and {} today",
    "they spoke of {} and {}",
    "{} again, and {} as well",
    "no {}, only {}",
]

texts, topics = [], []
for topic, words in PARTS.items():
    for first in words:
        for second in words:
            for frame in FRAMES:
                texts.append(frame.format(first, second))
                topics.append(topic)

train, test, y_train, y_test = train_test_split(texts, topics, random_state=0)
pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True), SCWClassifier(multi_class="ovr"))
search = GridSearchCV(pipeline, {"scwclassifier__C": [0.3, 3.0]}, cv=3).fit(train, y_train)

print(f"best C: {search.best_params_['scwclassifier__C']}")
print(f"share of test texts that are right: {search.score(test, y_test):.3f}")
for text in ("a cold front and wind", "olive oil, salt and soup"):
    shares = zip(search.classes_, search.predict_proba([text])[0], strict=True)
    shown = ", ".join(f"{topic} {share:.2f}" for topic, share in shares)
    print(f"{text!r}: {search.predict([text])[0]} ({shown})")

"""The public data sets: where they are, how they are read, who trains and who tests.

A digest is given where independent public records agree on it. Values are the publisher's: the
algorithms scale for themselves (`--normalize`, `--scale`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from data_scripts.download import File
from data_scripts.formats import (
    binary_line,
    dense_line,
    idx,
    label_first,
    label_last,
    libsvm_line,
    lines,
    name_first,
    secom,
    sparse_line,
    with_labels,
)
from data_scripts.rows import Parts
from data_scripts.splits import given, random, streamed, subsample
from data_scripts.words import days, newsgroups, reviews

SIGNS = {"1": "+1", "-1": "-1"}


@dataclass(frozen=True)
class DataSet:
    name: str
    what: str  # with the split, in a few words
    source: str
    features: int  # 0: known once it is made
    rows: tuple[int, ...]  # train, test; or of all days; () if the publisher does not say
    files: tuple[File, ...]
    parts: Parts
    labels: Mapping[str, str] = field(default_factory=lambda: SIGNS)  # theirs -> as written
    large: bool = False  # gigabytes


def file(base: str, path: str, sha256: str = "", *mirrors: str) -> File:
    name = path.rpartition("/")[2]
    return File(name, (base + path, *(mirror + name for mirror in mirrors)), sha256)


NTU = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
ESL = "https://hastie.su.domains/ElemStatLearn/datasets/"
ESL_OLD = "https://web.stanford.edu/~hastie/ElemStatLearn/datasets/"
LECUN = "https://ossci-datasets.s3.amazonaws.com/mnist/"
LECUN_MIRROR = "https://storage.googleapis.com/cvdf-datasets/mnist/"
UCSD = "http://www.sysnet.ucsd.edu/projects/url/"
JHU = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/"
QWONE = "http://qwone.com/~jason/20Newsgroups/"

LIBSVM = "LIBSVM collection"
CC_BY = "UCI, CC BY 4.0"

libsvm = lines(libsvm_line)


def ntu(*names: str) -> tuple[File, ...]:
    return tuple(file(NTU, name) for name in names)


def nips(name: str) -> tuple[File, ...]:
    """Labels of the validation part came later and lie one folder up."""
    inner = f"{name}/{name.upper()}/{name}_"
    paths = f"{inner}train.data", f"{inner}train.labels", f"{inner}valid.data"
    return tuple(file(UCI, path) for path in (*paths, f"{name}/{name}_valid.labels"))


EPSILON = ntu("epsilon_normalized.bz2", "epsilon_normalized.t.bz2")
RCV1 = ntu("rcv1_test.binary.bz2", "rcv1_train.binary.bz2")
GISETTE = nips("gisette")
NEWS = (
    file(QWONE, "20news-bydate.tar.gz",
         "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610"),
)  # fmt: skip
REVIEWS = (file(JHU, "processed_acl.tar.gz"),)
ZIP = (file(ESL, "zip.train.gz", "", ESL_OLD), file(ESL, "zip.test.gz", "", ESL_OLD))
MNIST = tuple(
    file(LECUN, name, sha256, LECUN_MIRROR)
    for name, sha256 in (
        ("train-images-idx3-ubyte.gz",
         "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
        ("train-labels-idx1-ubyte.gz",
         "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
        ("t10k-images-idx3-ubyte.gz",
         "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
        ("t10k-labels-idx1-ubyte.gz",
         "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
    )
)  # fmt: skip
IONOSPHERE = file(
    UCI, "ionosphere/ionosphere.data",
    "46d52186b84e20be52918adb93e8fb9926b34795ff7504c24350ae0616a04bbd",
)  # fmt: skip
SPAMBASE = file(
    UCI, "spambase/spambase.data",
    "b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12",
)  # fmt: skip
LETTER = file(
    UCI, "letter-recognition/letter-recognition.data",
    "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
)  # fmt: skip
SATELLITE = (
    file(UCI, "statlog/satimage/sat.trn",
         "e896dc88a960fa2404160fc4c3cb3dc53fcf4afd80ba920bf2d261bd42d12613"),
    file(UCI, "statlog/satimage/sat.tst"),
)  # fmt: skip
VEHICLE = tuple(file(UCI, f"statlog/vehicle/xa{part}.dat") for part in "abcdefghi")
SECOM = (
    file(UCI, "secom/secom.data",
         "20f0e7ee434f7dcbae0eea9ffff009a2b57f42d6b0dc9a5bd4f00782c0a3374c"),
    file(UCI, "secom/secom_labels.data",
         "126884cf453705c9e61a903fe906f0665a3b45ce3639e621edc5c93c89627e03"),
)  # fmt: skip


def against(positive: str, negative: str) -> dict[str, str]:
    return {positive: "+1", negative: "-1"}


def numbered(names: Iterable[str], first: int = 1) -> dict[str, str]:
    """Several classes as numbers, in the publisher's order."""
    return {name: str(k) for k, name in enumerate(names, first)}


GROUPS = numbered((
    "alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware", "comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles",
    "rec.sport.baseball", "rec.sport.hockey", "sci.crypt", "sci.electronics", "sci.med",
    "sci.space", "soc.religion.christian", "talk.politics.guns", "talk.politics.mideast",
    "talk.politics.misc", "talk.religion.misc",
))  # fmt: skip


def news(name: str, positive: str, negative: str, *rows: int) -> DataSet:
    return DataSet(
        f"news20_{name}", f"20 newsgroups, {positive} / {negative}, counts; by date",
        "20 Newsgroups", 0, rows, NEWS,
        newsgroups(positive, negative), against(positive, negative),
    )  # fmt: skip


def sentiment(domain: str, features: int = 0) -> DataSet:
    return DataSet(
        f"sentiment_{domain}", f"Amazon reviews of {domain}, counts of words and pairs; 70/30",
        "Blitzer et al. 2007", features, (1_400, 600), REVIEWS,
        random(reviews(domain), 0.7), against("positive", "negative"),
    )  # fmt: skip


CATALOGUE = {
    d.name: d
    for d in (
        DataSet("a9a", "Adult; standard split", LIBSVM, 123, (32_561, 16_281),
                ntu("a9a", "a9a.t"), given(libsvm)),
        DataSet("covtype", "forest cover 2 / rest, in [0, 1]; 450,000 random rows train", LIBSVM,
                54, (450_000, 131_012), ntu("covtype.libsvm.binary.scale.bz2"),
                random(libsvm, 450_000), against("2", "1")),
        DataSet("epsilon", "PASCAL challenge, dense; standard split", LIBSVM, 2_000,
                (400_000, 100_000), EPSILON, given(libsvm), large=True),
        DataSet("epsilon_50k", "epsilon; 50,000 random rows of the training part", LIBSVM, 2_000,
                (50_000, 100_000), EPSILON, subsample(libsvm, 50_000, 400_000), large=True),
        DataSet("real_sim", "real / simulated newsgroups; 32,309 random rows train", LIBSVM,
                20_958, (32_309, 40_000), ntu("real-sim.bz2"), random(libsvm, 32_309)),
        DataSet("rcv1", "Reuters; the larger part trains", LIBSVM, 47_236, (677_399, 20_242),
                RCV1, given(libsvm), large=True),
        DataSet("rcv1_70_30", "the smaller part of rcv1; 70/30", LIBSVM, 47_236, (14_169, 6_073),
                RCV1[1:], random(libsvm, 0.7)),
        DataSet("news20_binary", "20 newsgroups in two classes; random halves", LIBSVM,
                1_355_191, (9_998, 9_998), ntu("news20.binary.bz2"), random(libsvm, 0.5)),
        DataSet("url", "malicious URLs; a file a day, Day0 to Day120", "Ma et al. 2009",
                3_231_961, (2_396_130,), (file(UCI, "url/url_svmlight.tar.gz", "", UCSD),),
                days, large=True),
        DataSet("webspam", "trigrams, unit rows; 300,000 random rows train", LIBSVM, 16_609_143,
                (300_000, 50_000), ntu("webspam_wc_normalized_trigram.svm.xz"),
                streamed(libsvm, 300_000, 350_000), large=True),
        DataSet("arcene", "NIPS 2003, mass spectra; validation part tests", CC_BY, 10_000,
                (100, 100), nips("arcene"), given(with_labels(dense_line))),
        DataSet("dexter", "NIPS 2003, text; validation part tests", CC_BY, 20_000,
                (300, 300), nips("dexter"), given(with_labels(sparse_line))),
        DataSet("dorothea", "NIPS 2003, drugs, binary; validation part tests", CC_BY, 100_000,
                (800, 350), nips("dorothea"), given(with_labels(binary_line))),
        DataSet("gisette", "NIPS 2003, digits 4 / 9; validation part tests", CC_BY, 5_000,
                (6_000, 1_000), GISETTE, given(with_labels(dense_line))),
        DataSet("gisette_valid", "the validation part of gisette; 70/30", CC_BY, 5_000,
                (700, 300), GISETTE[2:], random(with_labels(dense_line), 0.7)),
        DataSet("madelon", "NIPS 2003, artificial; validation part tests", CC_BY, 500,
                (2_000, 600), nips("madelon"), given(with_labels(dense_line))),
        DataSet("uci_ionosphere", "radar, good / bad; 70/30", CC_BY, 34, (246, 105),
                (IONOSPHERE,), random(lines(label_last), 0.7), against("g", "b")),
        DataSet("secom", "sensors of a factory, fail / pass; trimmed, 70/30", CC_BY, 0, (),
                SECOM, random(secom, 0.7)),
        DataSet("spambase", "spam / other mail; 70/30", CC_BY, 57, (3_221, 1_380),
                (SPAMBASE,), random(lines(label_last), 0.7), against("1", "0")),
        news("comp", "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware", 1_168, 777),
        news("rec", "rec.autos", "rec.motorcycles", 1_192, 794),
        news("sci", "sci.electronics", "sci.med", 1_185, 789),
        news("talk", "talk.politics.guns", "talk.politics.mideast", 1_110, 740),
        sentiment("books", 195_887),
        sentiment("dvd"),
        sentiment("electronics", 111_407),
        sentiment("kitchen"),
        DataSet("zip_4v9", "ZIP digits 9 / 4, 16 x 16, in [-1, 1]; standard split",
                "Hastie et al., ESL", 256, (1_296, 377), ZIP, given(lines(label_first)),
                against("9", "4")),
        DataSet("zip_7v9", "ZIP digits 9 / 7; standard split", "Hastie et al., ESL", 256,
                (1_289, 324), ZIP, given(lines(label_first)), against("9", "7")),
        DataSet("mnist_evenodd", "MNIST even / odd, grey / 255; standard split", "LeCun et al.",
                784, (60_000, 10_000), MNIST, given(idx),
                {str(d): "-1" if d % 2 else "+1" for d in range(10)}),
        DataSet("mnist_6v7", "MNIST 7 / 6; standard split", "LeCun et al.", 784,
                (12_183, 1_986), MNIST, given(idx), against("7", "6")),
        DataSet("letter", "26 classes: letters A to Z as 1 to 26; 70/30", CC_BY, 16,
                (14_000, 6_000), (LETTER,), random(lines(name_first), 0.7),
                numbered("ABCDEFGHIJKLMNOPQRSTUVWXYZ")),
        DataSet("satellite", "6 classes: kinds of ground, 1 to 5 and 7; both parts mixed, 70/30",
                CC_BY, 36, (4_504, 1_931), SATELLITE, random(lines(label_last), 0.7),
                {number: number for number in "123457"}),
        DataSet("vehicle", "4 classes: silhouettes of opel, saab, bus, van as 1 to 4; 70/30",
                CC_BY, 18, (592, 254), VEHICLE, random(lines(label_last), 0.7),
                numbered(("opel", "saab", "bus", "van"))),
        DataSet("mnist10", "10 classes: MNIST digits, grey / 255; standard split",
                "LeCun et al.", 784, (60_000, 10_000), MNIST, given(idx),
                numbered("0123456789", 0)),
        DataSet("news20_20", "20 classes: 20 newsgroups by name as 1 to 20, counts; by date",
                "20 Newsgroups", 0, (11_314, 7_532), NEWS, newsgroups(*GROUPS), GROUPS),
    )
}  # fmt: skip

#!/bin/sh
# One day of a feed: score today's file with yesterday's model, then learn it. For cron:
#   15 3 * * *  examples/daily.sh url.cw /feed/$(date +\%F).svm.gz >> daily.jsonl
# Safe to run twice: a file that was learned before is skipped, and its evaluation says so in
# "learned_before". Options for a new model, such as
# --algo cw-fact, come from CWTOOL_TRAIN_* variables or cwtool.toml.
set -eu
model=$1
today=$2
if [ -e "$model" ]; then
    cwtool predict "$today" -m "$model" --evaluate --json --quiet
    exec cwtool train "$today" --resume "$model" -m "$model" --lock wait --json --quiet
fi
exec cwtool train "$today" -m "$model" --lock wait --json --quiet

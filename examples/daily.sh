#!/bin/sh
# One day of a feed, for cron: 15 3 * * *  examples/daily.sh url.cw /feed/$(date +\%F).svm.gz
exec cwtool feed "$2" -m "$1" --lock wait --json --quiet >> "${3:-daily.jsonl}"

#!/bin/sh
# One day of a feed, for cron: 15 3 * * *  examples/daily.sh url.cw /feed/$(date +\%F).svm.gz
# It prints only errors, such as a day that is refused, and cron sends them by mail.
exec cwtool feed "$2" -m "$1" --lock wait --log "${3:-daily.jsonl}" --quiet

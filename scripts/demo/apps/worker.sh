#!/bin/sh
# A worker that does one job after the other, and fails now and then.
job=0
while :; do
  job=$((job + 1))
  sleep 0.5
  if [ "$job" -eq 6 ]; then
    echo "job $job: lost the connection to the queue" >&2
    exit 1
  fi
  echo "job $job: done"
done

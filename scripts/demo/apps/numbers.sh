#!/bin/sh
# Writes numbered lines without end.
i=0
while :; do
  i=$((i + 1))
  echo "$i"
  sleep 0.02
done

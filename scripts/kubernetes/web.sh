# Serves the name of its release; the release "bad" fails to start.
if [ "$RELEASE" = bad ]; then
  echo "this release does not work"
  exit 7
fi
mkdir -p /tmp/www
echo "$RELEASE" >/tmp/www/index.html
exec busybox httpd -f -p "$PORT" -h /tmp/www

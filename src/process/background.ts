/** Apps that become background processes, which a supervisor cannot watch: what to do about them. */

import type { Listener } from "../platform/scan/listening_ports.ts";
import type { Background } from "../platform/scan/process_group.ts";

/** How to keep a program in the foreground, by the name of its process. */
const FOREGROUND: readonly (readonly [name: RegExp, how: string])[] = [
  [/^nginx/, "nginx -g 'daemon off;'"],
  [/^redis-server|^valkey-server|^keydb-server/, "redis-server --daemonize no"],
  [/^php-fpm/, "php-fpm --nodaemonize"],
  [/^postgres/, "postgres -D DIR, not pg_ctl"],
  [/^sshd/, "sshd -D"],
  [/^apache2|^httpd/, "apache2 -D FOREGROUND"],
  [/^mysqld|^mariadbd/, "mysqld itself, without --daemonize"],
  [/^mongod/, "mongod without --fork"],
  [/^memcached/, "memcached without -d"],
  [/^haproxy/, "haproxy -db"],
  [/^gunicorn/, "gunicorn without --daemon"],
  [/^celery/, "celery worker, without multi and --detach"],
  [/^uwsgi/, "uwsgi without --daemonize"],
  [/^lighttpd/, "lighttpd -D"],
  [/^named/, "named -f"],
  [/^dnsmasq/, "dnsmasq --keep-in-foreground"],
  [/^cron/, "cron -f"],
  [/^supervisord/, "supervisord --nodaemon"],
  [/^squid/, "squid --foreground"],
  [/^varnishd/, "varnishd -F"],
];

/** `left pid 12 (nginx) in the background`. */
export function describeBackground({ pid, name }: Background): string {
  return `left pid ${pid} (${name}) in the background`;
}

/** `pid 12 (nginx) still listens on port 80`. */
export function describeListener({ pid, name, port }: Listener): string {
  return `pid ${pid} (${name}) still listens on port ${port}`;
}

/** What to do about it, as a sentence without a full stop. */
export function foregroundAdvice({ name }: Background): string {
  const how = FOREGROUND.find(([pattern]) => pattern.test(name))?.[1];
  return `Run it in the foreground${how === undefined ? "" : `: ${how}`}`;
}

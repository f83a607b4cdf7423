import { TLS_PARAMETERS } from './tls.ts';

/** Parameter of the URL that names a node; the server never gets it. */
const NODE = 'mailstead_node';

/** Reports whether a database is on PostgreSQL: its address is a URL, that of SQLite is a path. */
export function isPostgres(database: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(database);
}

/** Adds the name of one of several nodes that share a database. */
export function withNode(url: string, node: string): string {
  const address = new URL(url);
  address.searchParams.set(NODE, node);
  return address.href;
}

/** Name of the node that a URL is for; undefined: the database has one node. */
export function nodeOf(url: string): string | undefined {
  return new URL(url).searchParams.get(NODE) ?? undefined;
}

/** Returns the address without the parameters that are for Mailstead, and the directory of its socket. */
export function connectionAddress(url: string): { href: string; socket: string | undefined } {
  const address = new URL(url);
  // As in libpq: postgres://user@localhost/name?host=/run/postgresql is a socket.
  const socket = address.searchParams.get('host') ?? undefined;
  for (const name of ['host', NODE, ...TLS_PARAMETERS]) address.searchParams.delete(name);
  return { href: address.href, socket };
}

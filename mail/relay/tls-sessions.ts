import type { Host } from './destination.ts';

interface Kept {
  ticket: Buffer;
  /** What the whole handshake found out about the certificate. */
  verified: string;
  until: number;
}

const MOST = 1000;
const HOUR = 3_600_000;

/**
 * Tickets to go on with a TLS session at the next connection, which saves the server and us the costly half of a
 * handshake. Only for hosts that are not judged: a session that goes on shows no certificate.
 */
export class TlsSessions {
  readonly #kept = new Map<string, Kept>();
  readonly #monotonic: () => number;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** A ticket for one connection; the next one needs another. RFC 8446 C.4. */
  take(host: Host): Kept | undefined {
    const kept = this.#kept.get(key(host));
    this.#kept.delete(key(host));
    return kept !== undefined && kept.until > this.#monotonic() ? kept : undefined;
  }

  keep(host: Host, ticket: Buffer, verified: string): void {
    this.#kept.delete(key(host));
    this.#kept.set(key(host), { ticket, verified, until: this.#monotonic() + HOUR });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST) break;
      this.#kept.delete(oldest);
    }
  }
}

function key(host: Host): string {
  return `${host.name} ${host.ip} ${host.port}`;
}

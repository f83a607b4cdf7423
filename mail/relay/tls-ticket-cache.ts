import type { LRUCache } from 'lru-cache';
import { lruMap } from '../limits/lru-map.ts';
import type { Host } from './destination.ts';

interface TlsTicket {
  ticket: Buffer;
  /** Certificate verification of the full handshake. */
  verified: string;
}

/** Maximum hosts. */
const MAX_HOSTS = 1000;
const HOUR = 3_600_000;

/**
 * Cache of TLS session tickets, which save the costly half of a handshake. Only for hosts without certificate checks: a
 * resumed session shows no certificate.
 */
export class TlsTicketCache {
  readonly #tickets: LRUCache<string, TlsTicket>;

  /** `now`: monotonic ms. */
  constructor(now: () => number) {
    this.#tickets = lruMap(MAX_HOSTS, { ms: HOUR, now });
  }

  /** Takes a ticket; each is used once. RFC 8446 C.4. */
  take(host: Host): TlsTicket | undefined {
    const ticket = this.#tickets.get(key(host));
    this.#tickets.delete(key(host));
    return ticket;
  }

  store(host: Host, ticket: Buffer, verified: string): void {
    this.#tickets.set(key(host), { ticket, verified });
  }
}

function key(host: Host): string {
  return `${host.name} ${host.ip} ${host.port}`;
}

/** Timeouts of the SMTP client, ms. RFC 5321 4.5.3.2. */
export interface RelayTimeouts {
  connect: number;
  tls: number;
  /** Banner and commands, for the whole reply. */
  command: number;
  /** Reply to DATA. */
  data: number;
  /** Write of one chunk of the message. */
  block: number;
  /** Reply to the final dot: a short timeout causes duplicates. */
  end: number;
}

export interface RelayLimits {
  timeouts: RelayTimeouts;
  /** Concurrent connections: in total, and per destination initially and at most. */
  connections: number;
  perDestination: { first: number; most: number };
  /** Messages per connection. */
  messagesPerConnection: number;
  /** Idle timeout of a connection, ms. */
  idle: number;
  /** Addresses that one attempt tries before the mail is deferred. */
  hosts: number;
  /** Backoff of an unreachable host, ms: initially, doubled each time, and at most. */
  hostBackoff: { first: number; most: number };
  /** Queue rows per read. */
  batch: number;
  /** Time that shutdown waits for open transactions, ms. */
  shutdown: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;

export const RELAY_LIMITS: RelayLimits = {
  timeouts: {
    connect: 30 * SECOND,
    tls: MINUTE,
    command: 5 * MINUTE,
    data: 2 * MINUTE,
    block: 3 * MINUTE,
    end: 10 * MINUTE,
  },
  connections: 100,
  perDestination: { first: 2, most: 20 },
  messagesPerConnection: 100,
  idle: 5 * SECOND,
  hosts: 5,
  hostBackoff: { first: MINUTE, most: 15 * MINUTE },
  batch: 100,
  shutdown: 20 * SECOND,
};

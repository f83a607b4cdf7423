/** How long a server is waited for, ms. RFC 5321 4.5.3.2. */
export interface Timeouts {
  connect: number;
  tls: number;
  /** Banner and commands, for the whole reply. */
  command: number;
  /** The answer to DATA. */
  data: number;
  /** For the server to take one more piece of the message. */
  block: number;
  /** The answer to the end of the message: giving up early makes duplicates. */
  end: number;
}

export interface RelayLimits {
  timeouts: Timeouts;
  /** Connections at the same time: in all, and to one destination at first and at most. */
  connections: number;
  perDestination: { first: number; most: number };
  /** Messages over one connection. */
  messagesPerConnection: number;
  /** How long an unused connection is kept, ms. */
  idle: number;
  /** Addresses tried for one destination before its mail is put off. */
  hosts: number;
  /** How long a host that does not answer is left alone, ms: at first, doubled each time, and at most. */
  hostRest: { first: number; most: number };
  /** Rows taken from the queue in one look. */
  batch: number;
  /** How long closing waits for messages that are on the wire, ms. */
  closing: number;
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
  hostRest: { first: MINUTE, most: 15 * MINUTE },
  batch: 100,
  closing: 20 * SECOND,
};

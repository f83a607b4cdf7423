/** What kinds of things a story is made of. */
export const EVENTS = [
  'accepted',
  'policy',
  'queued',
  'attempt',
  'deferred',
  'delivered',
  'bounced',
  'complained',
  'relayed',
  'webhook',
] as const;

/** One thing that happened to a message, before its time is written out. */
export interface Entry {
  /** ms UTC. */
  at: number;
  event: (typeof EVENTS)[number];
  /** Whom it is about, where it is not about all. */
  recipient?: string;
  host?: string;
  tls?: string;
  /** SMTP reply or HTTP status. */
  code?: number;
  enhancedCode?: string;
  /** What the other side said: its words, not ours. */
  text?: string;
  /** What happened, and what to do. */
  explanation: string;
}

export type Telling = Omit<Entry, 'at'>;

/** Kinds of events in a timeline. */
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

/** One event of a message. */
export interface Entry {
  /** Milliseconds UTC. */
  at: number;
  event: (typeof EVENTS)[number];
  /** The recipient; undefined: all. */
  recipient?: string;
  host?: string;
  tls?: string;
  /** SMTP reply or HTTP status. */
  code?: number;
  enhancedCode?: string;
  /** Remote text, untrusted. */
  text?: string;
  /** Explanation, and next step. */
  explanation: string;
}

export type Telling = Omit<Entry, 'at'>;

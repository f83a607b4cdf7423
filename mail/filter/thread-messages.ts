import type { SampleMessage } from '../store/filter/sample-words.ts';
import type { Labels } from '../log.ts';
import type { InboundMail, FilterResult } from './mail-filter.ts';

/** Request to the filter thread: check an arriving message, or extract the words of a stored one. */
export type FilterRequest = { kind: 'filter'; mail: InboundMail } | { kind: 'words'; source: SampleMessage };

/** Response of the filter thread. */
export type FilterResponse = FilterResult | number[];

/** Messages from the main thread to the filter thread. */
export type ToFilterThread = (FilterRequest & { id: number }) | { kind: 'close' };

export type FromFilterThread =
  /** The thread is busy and not in a loop; sent at the start and four times a second. `cpu`: its CPU time so far, ms. */
  | { kind: 'heartbeat'; cpu: number }
  | { kind: 'started'; id: number }
  | { kind: 'response'; id: number; value: FilterResponse }
  | { kind: 'failed'; id: number; message: string; stack: string }
  | { kind: 'metric'; name: string; labels: Labels }
  | { kind: 'log'; level: 'info' | 'warn'; fields: object; text: string };

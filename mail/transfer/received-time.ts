import { parseDate } from '../message/date.ts';
import { headerFields } from './mbox-fields.ts';

/** Time of arrival by the topmost Received field, else the Date field; ms UTC. Undefined: neither is understood. */
export function receivedTime(head: Buffer): number | undefined {
  const fields = headerFields(head);
  const received = fields.get('received');
  const text = received?.slice(received.lastIndexOf(';') + 1) ?? fields.get('delivery-date') ?? '';
  return timeOf(text) ?? timeOf(fields.get('date') ?? '');
}

function timeOf(text: string): number | undefined {
  const at = parseDate(text.trim())?.at;
  return at === undefined || at < 0 || at > 8.64e15 ? undefined : at;
}

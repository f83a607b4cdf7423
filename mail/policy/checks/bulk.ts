import { firstField } from '../../message/header.ts';
import type { Finding } from '../finding.ts';
import type { Sample } from '../sample.ts';

/** Finds bulk mail; it scores only without a way to unsubscribe. RFC 2369, RFC 8058. */
export function checkBulk({ fields }: Sample): readonly Finding[] {
  const names = new Set<string>();
  for (const { name } of fields) names.add(name);
  const precedence = firstField(fields, 'precedence') ?? '';
  const isBulk = /\b(?:bulk|junk)\b/i.test(precedence.slice(0, 100));
  const list = names.has('list-id') || names.has('list-post');
  if (!isBulk && !list && !names.has('list-unsubscribe') && !names.has('feedback-id')) return [];
  const canUnsubscribe = list || names.has('list-unsubscribe');
  return [
    {
      rule: 'bulk',
      score: canUnsubscribe ? 0 : 0.5,
      why: canUnsubscribe ? 'It is bulk mail' : 'It is bulk mail without a way to unsubscribe',
      flag: 'bulk',
    },
  ];
}

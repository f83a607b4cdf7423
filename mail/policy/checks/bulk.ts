import type { Finding } from '../finding.ts';
import type { Sample } from '../sample.ts';

/** Says that a message went to many; it speaks against it only where the sender offers no way out. RFC 2369, RFC 8058. */
export function bulk({ fields }: Sample): readonly Finding[] {
  const names = new Set(fields.map(({ name }) => name));
  const precedence = fields.find(({ name }) => name === 'precedence')?.value ?? '';
  const many = /\b(?:bulk|junk)\b/i.test(precedence.slice(0, 100));
  const list = names.has('list-id') || names.has('list-post');
  if (!many && !list && !names.has('list-unsubscribe') && !names.has('feedback-id')) return [];
  const way = list || names.has('list-unsubscribe');
  return [
    {
      rule: 'bulk',
      score: way ? 0 : 0.5,
      why: way ? 'It went to many' : 'It went to many and has no way to leave',
      flag: 'bulk',
    },
  ];
}

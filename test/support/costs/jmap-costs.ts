import { readHeaderProperty } from '../../../mail/jmap/email/email-selection.ts';
import { jsonSize, readJson } from '../../../mail/jmap/core/json.ts';
import { mediaType } from '../../../mail/jmap/core/media-type.ts';
import { evaluate } from '../../../mail/jmap/core/request.ts';
import { caught, type CostRow, costs, driven } from './row.ts';

const CORE = costs(
  { at: 'mail/jmap/core', input: 'JMAP request', bound: '10 MB, of the memory for bodies', thread: 'main' },
  {
    readJson: driven((text) => caught(() => readJson(Buffer.from(text))), { worst: ['{},', '[[],', '{"a":'] }),
    'readJson: array': driven((text) => caught(() => readJson(Buffer.from(`[${text}{}]`))), {
      worst: ['{},', '[],', '0,'],
    }),
    'readJson: string': (text) => caught(() => readJson(Buffer.from(JSON.stringify({ a: text })))),
    jsonSize: (text) => jsonSize({ [text]: [text] }, 32_000_000),
    evaluate: driven((text) => caught(() => evaluate({ a: [] }, `/a/${text}`)), { bound: 'paths of 1,000 characters' }),
    mediaType,
    readHeaderProperty: driven((text) => readHeaderProperty(`header:${text}`), { at: 'mail/jmap/email' }),
  },
);

/** Functions that read JMAP requests. */
export const JMAP_COSTS: readonly CostRow[] = [...CORE];

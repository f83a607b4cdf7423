import { access } from '../../access.ts';
import { anything, mapOf, nullable, object, plainObject, text, wrong } from '../../arguments.ts';
import { type DataSource, readSources } from '../../blob/data-source.ts';
import { keepOctets, type MadeBlob } from '../../blob/keep-octets.ts';
import { BLOB } from '../../capabilities.ts';
import { ReadBudget } from '../../email/read-budget.ts';
import { mediaType } from '../../media-type.ts';
import type { Call, Method } from '../../method.ts';
import { refusable } from '../../set-refusal.ts';
import { checkCount, createEach, type Outcome } from '../../standard-set.ts';

/** Octets of encoded parts that one call may read only to know how long they are. */
const MOST_OPENED = 64 * 1024 * 1024;

const UPLOAD = object({ data: anything, type: nullable(text) });

/** Blob/upload. RFC 9404 4.1. */
export const blobUpload: Method = {
  name: 'Blob/upload',
  capability: BLOB,
  async run(call, args) {
    const { accountId, create } = object({ accountId: access(call, 'write'), create: mapOf(plainObject) })(args, '');
    checkCount(call, create.size);
    const asked = { call, account: accountId.account, budget: new ReadBudget(MOST_OPENED) };
    const made = await createEach(call, create, (given) => refusable(call.desk.log, () => upload(asked, given)));
    return { accountId: args['accountId'], ...made };
  },
};

async function upload(
  asked: { call: Call; account: number; budget: ReadBudget },
  given: Record<string, unknown>,
): Promise<Outcome<MadeBlob>> {
  const { data, type: named } = UPLOAD(given, '');
  const type = named === null ? 'application/octet-stream' : mediaType(named);
  if (type === undefined) throw wrong('type', 'must be a media type such as text/plain');
  const sources = await readSources(asked, data);
  const size = sources.reduce((sum, source) => sum + source.size, 0);
  return keepOctets(asked.call.desk, { account: asked.account, type }, { size, stream: () => joined(sources) });
}

async function* joined(sources: readonly DataSource[]): AsyncIterable<Buffer> {
  for (const source of sources) yield* source.stream();
}

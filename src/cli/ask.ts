import { askServer, type ControlAnswer } from '../control/client.ts';
import { complain, FAILED, say } from './say.ts';
import type { Asked, Verb } from './verb.ts';

const LARGEST_PAGE = 100;

interface How {
  /** The data directory of the server. */
  where: string;
  /** In which organization; undefined: the operator's. */
  org: string | undefined;
  json: boolean;
}

/** Asks the running server and prints its answer. Answers the exit code. */
export async function ask(verb: Verb, { operation, input }: Asked, how: How): Promise<number> {
  const answer = await allPages(verb.pages, (page) => askServer(how.where, operation, { ...input, ...page }, how.org));
  if (answer.kind === 'done') {
    return say(how.json ? JSON.stringify(answer.result, null, 2) : verb.show(answer.result as never));
  }
  if (!how.json) return complain(answer.message, FAILED);
  const error = answer.kind === 'refused' ? answer.code : answer.kind;
  process.stderr.write(`${JSON.stringify({ error, message: answer.message })}\n`);
  return FAILED;
}

/** One answer with the list of all pages; where `list` is undefined there is only one. */
async function allPages(
  list: string | undefined,
  askFor: (page: object) => Promise<ControlAnswer>,
): Promise<ControlAnswer> {
  if (list === undefined) return askFor({});
  const all: unknown[] = [];
  let cursor: unknown = null;
  do {
    const answer = await askFor({ limit: LARGEST_PAGE, ...(cursor !== null && { cursor }) });
    if (answer.kind !== 'done') return answer;
    const page = answer.result as Record<string, unknown>;
    all.push(...(page[list] as unknown[]));
    cursor = page['nextCursor'];
  } while (typeof cursor === 'string');
  return { kind: 'done', result: { [list]: all } };
}

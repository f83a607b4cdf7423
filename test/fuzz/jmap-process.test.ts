import { Agent, request as ask } from 'node:http';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { fuzzCount } from '../support/fuzz-count.ts';
import { fuzzRun } from '../support/fuzz-run.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { JmapClient, listOf, ref } from '../support/jmap-client.ts';
import { type JmapFuzzTargets, jmapRequest, type JmapFuzzObjects } from '../support/jmap-fuzz.ts';
import type { FuzzRequest } from '../support/json-requests.ts';
import { newOrganization, tool } from '../support/mcp.ts';

/** Lines that fit into a minute; FUZZ_LINES raises it to 200,000. */
const REQUESTS = fuzzCount(40_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_125);
const LANES = 16;
const MOST_MORE = 100 * 2 ** 20;
/** Credentials: each allows four concurrent requests, so that few are rejected. */
const REQUESTING = 8;
/** Stands in everything that the one has whose ids the others name. */
const FOREIGN = 'kept9from8others';

const agent = new Agent({ keepAlive: true, maxSockets: LANES });

test(`${REQUESTS} requests of nonsense over JMAP, seed ${SEED}`, { timeout: 1_800_000 }, async () => {
  await using box = await startBox({ settings: { ...UNDER_LOAD } });
  const random = seeded(SEED);
  const foreign = await inhabitant(box, FOREIGN);
  const grounds: JmapFuzzTargets[] = [];
  for (let i = 0; i < REQUESTING; i++) {
    const { token, things } = await inhabitant(box, `asking${i}`);
    grounds.push({ token, own: things, foreign: foreign.things });
  }
  const counts = new Map<string, number>();
  let sent = 0;
  const told = await fuzzRun(box, {
    lines: REQUESTS,
    lanes: LANES,
    mostMore: MOST_MORE,
    warmUp: 0.2,
    async next() {
      const made = jmapRequest(random, grounds[sent++ % REQUESTING] as JmapFuzzTargets);
      const { status, text } = await send(box, made);
      for (const type of [String(status), ...text.matchAll(/\["error",\{"type":"(\w+)"/g)].map(String)) {
        const name = type.split(',').at(-1) ?? type;
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      classifier(made, status, text);
      return 1;
    },
  });
  expect(counts.get('200') ?? 0, 'requests that were understood').toBeGreaterThan(REQUESTS / 3);
  console.log(`${told}; ${[...counts].map(([name, count]) => `${name}: ${count}`).join(', ')}; seed ${SEED}`);
  agent.destroy();
});

/** An organization with a mailbox, some mail, and the name in all of it. */
async function inhabitant(box: Box, name: string): Promise<{ token: string; things: JmapFuzzObjects }> {
  const base = `http://127.0.0.1:${box.port('http')}`;
  const { token } = await newOrganization(base, name);
  const domain = `${name}.test`;
  for (const [operation, input] of [
    ['add_email_domain', { domain }],
    ['verify_email_domain', { domain }],
    ['provision_email', { domain, localPart: name }],
  ] as const) {
    const said = await tool(base, operation, input, token);
    if (said.status >= 300) throw new Error(said.text);
  }
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), ignoreTLS: true });
  const attachments = [{ filename: `${name}.txt`, content: `apples ${name}` }];
  for (let i = 0; i < 10; i++) {
    const more = i % 2 === 0 ? { attachments } : { html: `<p>${name}</p>` };
    const mail = {
      from: `${name}@else.test`,
      to: `${name}@${domain}`,
      subject: `${name} ${i}`,
      text: `apples ${name}`,
    };
    await transport.sendMail({ ...mail, ...more });
  }
  return { token, things: await thingsOf(await JmapClient.discover(base, { token })) };
}

async function thingsOf(client: JmapClient): Promise<JmapFuzzObjects> {
  const got = await client.calls([
    ['Mailbox/get', { ids: null }, 'm'],
    ['Email/query', {}, 'q'],
    ['Email/get', { '#ids': ref('q', 'Email/query', '/ids'), properties: ['blobId', 'threadId', 'attachments'] }, 'e'],
    ['Identity/get', { ids: null }, 'i'],
  ]);
  const emails = listOf(got['e']);
  const all = (list: readonly object[], name: string): string[] => list.map((one) => String(Reflect.get(one, name)));
  const parts = emails.flatMap((one) => one['attachments'] as object[]);
  return {
    account: client.account,
    emails: all(emails, 'id'),
    mailboxes: all(listOf(got['m']), 'id'),
    threads: all(emails, 'threadId'),
    blobs: [...all(emails, 'blobId'), ...all(parts, 'blobId')],
    identities: all(listOf(got['i']), 'id'),
    states: [got['m']?.['state'], got['e']?.['state'], got['q']?.['queryState']].map(String),
  };
}

/** No answer may be our own fault, or have anything of the other organization. */
function classifier(made: FuzzRequest, status: number, text: string): void {
  const queried = () =>
    `${made.method} ${made.path} ${JSON.stringify(made.headers)}\n${made.body.toString('latin1').slice(0, 4_000)}`;
  if (status >= 500 || text.includes('"serverFail"')) expect.fail(`${status} ${text.slice(0, 2_000)}\nto ${queried()}`);
  if (text.includes(FOREIGN)) expect.fail(`of another: ${text.slice(0, 2_000)}\nto ${queried()}`);
  if (text === '' || made.method === 'GET') return;
  try {
    JSON.parse(text);
  } catch {
    expect.fail(`${status} and no JSON: ${text.slice(0, 1_000)}\nto ${queried()}`);
  }
}

function send(box: Box, { method, path, headers, body }: FuzzRequest): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const at = { host: '127.0.0.1', port: box.port('http'), agent, method, path };
    const queried = ask({ ...at, headers: { ...headers, 'content-length': body.length } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    queried.setTimeout(60_000, () => queried.destroy(new Error(`no answer to ${method} ${path} ${String(body)}`)));
    queried.on('error', reject);
    queried.end(body);
  });
}

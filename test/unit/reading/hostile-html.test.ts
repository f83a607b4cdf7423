import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowId } from '../../../src/ids.ts';
import { readTexts } from '../../../src/reading/read-texts.ts';
import { encodedHtml } from '../../support/encoded.ts';
import { HOSTILE_PAGES } from '../../support/hostile-html.ts';
import { putMail } from '../../support/put-mail.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

/** The largest text of a message that is read. */
const LARGEST = 500 * 1024;
/** ms. What takes less is noise. */
const FLOOR = 60;
const HIDDEN = '</style>"><p class=ghost hidden>GHOST</p>';

describe.each(HOSTILE_PAGES)('%s', (_name, page) => {
  const read = (html: string): string => {
    const { own, quoted } = readTexts({ html: [encodedHtml(html)], text: [], form: 'markdown', links: true });
    return own + quoted;
  };

  test('take no longer than they look, and show nothing that is hidden', { timeout: 30_000 }, () => {
    const [tenth, whole] = [page(LARGEST / 10), page(LARGEST) + HIDDEN];
    const before = cpuOf(() => read(tenth));
    let shown = '';
    const bound = Math.min(1_000, 15 * Math.max(FLOOR, before));
    let after = cpuOf(() => (shown = read(whole)));
    if (after > bound)
      after = Math.min(
        after,
        cpuOf(() => read(whole)),
      );
    expect(after).toBeLessThan(bound);
    expect(shown).not.toContain('GHOST');
  });
});

// What is bounded is the time of one processor, which may come late.
describe('the thread that everybody shares', { timeout: 120_000 }, () => {
  let tenants: Tenants;
  let at: number;
  beforeAll(async () => {
    tenants = await twoTenants();
    at = tenants.clock.now;
  });
  afterAll(() => tenants[Symbol.asyncDispose]());

  const put = (html: string, header = 'Content-Type: text/html'): Promise<string> => {
    const account = rowId('mailbox', tenants.a.main.mailboxId) ?? 0;
    const text = `From: x@y.example\nTo: me@alpha-main.test\nSubject: s\n${header}\n\n${html}\n`;
    return putMail(tenants.world.store, { account, receivedAt: (at += 1000) }, text);
  };
  /** ms that a call takes of its processor, once what is done only once is done. */
  const costOf = async (name: string, args: object): Promise<number> => {
    const call = (): Promise<unknown> => tenants.do(name, { mailbox: tenants.a.main.mailboxId, ...args });
    await call();
    const took: number[] = [];
    // One of them may have to clean up memory after what others left.
    while (took.length < 2) {
      const before = process.threadCpuUsage();
      const answer = await call();
      const { user, system } = process.threadCpuUsage(before);
      took.push((user + system) / 1000);
      expect(JSON.stringify(answer)).not.toContain('GHOST');
    }
    return Math.min(...took);
  };
  const WORST = HOSTILE_PAGES.filter(([name]) => /^(?:tags|one line|blanks|links|rules for|a long rule)/.test(name));

  test.each(WORST)('has little to do when somebody reads %s', async (_name, page) => {
    const messageId = await put(page(LARGEST) + HIDDEN);
    for (const [name, args] of [
      ['get_message', { messageId, format: 'html_sanitized' }],
      ['get_thread', { threadId: `t${messageId.slice(1)}` }],
      ['list_messages', { limit: 1 }],
    ] as const) {
      expect(await costOf(name, args), name).toBeLessThan(FLOOR);
    }
  });

  test('has little to do for a list of many that are short', async () => {
    const [, page] = HOSTILE_PAGES.find(([name]) => name === 'rules for classes') ?? ['', () => ''];
    const short = page(2_000).replace('.a,'.repeat(1_000), '') + HIDDEN;
    expect(short.length).toBeLessThan(8_000);
    for (let i = 0; i < 50; i++) await put(short);
    expect(await costOf('list_messages', { limit: 50 })).toBeLessThan(2 * FLOOR);
  });

  test('has little to do for many texts in one message, or for a file', async () => {
    const [, page] = HOSTILE_PAGES.find(([name]) => name === 'one line of many pieces') ?? ['', () => ''];
    const part = (header: string): string => `--b\nContent-Type: text/html${header}\n\n${page(LARGEST)}${HIDDEN}\n`;
    const header = 'Content-Type: multipart/mixed; boundary=b';
    const many = await put(`${part('').repeat(12)}--b--`, header);
    expect(await costOf('get_message', { messageId: many })).toBeLessThan(FLOOR);
    const file = await put(`--b\n\nHello\n${part('\nContent-Disposition: attachment')}--b--`, header);
    expect(await costOf('get_attachment', { attachmentId: `${file}-2` })).toBeLessThan(FLOOR);
  });
});

/** ms of a processor. */
function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

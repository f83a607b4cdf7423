import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Trust } from '../../../mail/policy/trust.ts';
import { shownSecrets } from '../../../mail/agents/secrets/shown-secret.ts';
import { perform } from '../../../src/operations/perform.ts';
import { operationOf, type Tenants } from '../../support/tenants.ts';
import { type Awaited, awaitedMailbox, waiting } from '../../support/waiting.ts';

let box: Awaited;
let tenants: Tenants;
let mailbox: string;
beforeAll(async () => {
  box = await awaitedMailbox();
  ({ tenants, mailbox } = box);
});
afterAll(() => box[Symbol.asyncDispose]());

/** As if the box had a public name, where DMARC decides. */
const live = () => ({ ...tenants.world, settings: { ...tenants.world.settings, live: true } });
const FORGED: Partial<Trust> = { alignedFrom: false, auth: { spf: 'fail', dkim: 'none', dmarc: 'fail' } };

const mail = (text: string, from = 'no-reply@mail.shop.example'): string =>
  `From: Shop <${from}>\nSubject: =?utf-8?q?Welcome?=\nContent-Type: text/plain; charset=utf-8\n\n${text}\n`;
const comes = (text: string, from?: string, trust: Partial<Trust> | null = {}, folder: 'inbox' | 'junk' = 'inbox') =>
  box.comes(mail(text, from), { trust, folder });
async function code(args: object = {}, world = live()): Promise<Record<string, unknown>> {
  const given = { mailbox, expectFrom: 'shop.example', timeoutSeconds: 0, ...args };
  const said = await perform(world, operationOf('wait_for_code'), tenants.a.caller, given);
  if (said.kind !== 'done') throw new Error(JSON.stringify(said.refusal));
  return said.result;
}
/** Behind everything that there is. */
const now = async (): Promise<string> =>
  String((await tenants.do('wait_for_email', { mailbox, timeoutSeconds: 0 }))['cursor']);

describe('wait_for_code', () => {
  test('gives the code of mail that is proved to be of the site, also when it came a moment before', async () => {
    await comes('Your verification code is 482913.');
    const answer = await code();
    expect(answer).toMatchObject({
      matched: true,
      timedOut: false,
      code: '482913',
      link: null,
      confidence: 'high',
      sender: 'dmarc',
      message: { from: { address: 'no-reply@mail.shop.example' } },
    });
    const { store, clock } = tenants.world;
    const noted = await store.read(shownSecrets, { tenant: tenants.a.caller.organization ?? 0, now: clock() });
    expect(noted.map(({ kind }) => kind)).toContain('code');
    expect(await code({ since: answer['cursor'] })).toMatchObject({ matched: false, timedOut: true, code: null });
  });

  test('waits for it, finds it in junk too, and takes the last of several', async () => {
    const since = await now();
    const answer = code({ since, timeoutSeconds: 30 });
    await waiting(tenants.world, 1);
    await comes('Nothing to see');
    await comes('Your code: 111222', undefined, {}, 'junk');
    const first = await answer;
    expect(first).toMatchObject({ matched: true, code: '111222' });
    await comes('Your code: 333444');
    await comes('Your code: 555666');
    const second = await code({ since: first['cursor'] });
    expect(second).toMatchObject({ code: '555666' });
    expect(await code({ since: second['cursor'] })).toMatchObject({ matched: false });
  });

  test('withholds what only claims to be of the site', async () => {
    const since = await now();
    await comes('Your verification code is 666666.', 'no-reply@shop.example', FORGED);
    const answer = await code({ since });
    expect(answer).toMatchObject({ matched: false, code: null, withheld: 'unauthenticated_sender', sender: null });
    expect(answer['message']).toMatchObject({ trust: { alignedFrom: false } });
    expect(await code({ since: answer['cursor'] })).not.toHaveProperty('withheld');
  });

  test.each([
    ['another site that is who it says', 'no-reply@shop.example.evil.test', {}],
    ['a look-alike', 'shop@shop-example.test', {}],
    ['the parent of the domain', 'x@example', {}],
    ['a mailbox here that nobody judged', 'x@shop.example', null],
  ])('withholds mail of %s', async (_who, from, trust) => {
    const since = await now();
    await comes('Shop: your verification code is 777777.', from, trust);
    expect(await code({ since })).toMatchObject({ matched: false, code: null, withheld: 'unauthenticated_sender' });
  });

  test('goes on waiting behind a forgery', async () => {
    const since = await now();
    await comes('Your verification code is 666666.', 'no-reply@shop.example', FORGED);
    const answer = code({ since, timeoutSeconds: 30 });
    await waiting(tenants.world, 1);
    await comes('Your verification code is 123321.');
    const said = await answer;
    expect(said).toMatchObject({ matched: true, code: '123321' });
    expect(said).not.toHaveProperty('withheld');
  });

  test('takes no notice of other mail', async () => {
    const since = await now();
    await comes('Your code at Other is 999999.', 'x@other.example');
    const answer = await code({ since });
    expect(answer).toMatchObject({ matched: false, message: null });
    expect(answer).not.toHaveProperty('withheld');
  });

  test('gives a link as a handle, and never its address', async () => {
    const since = await now();
    await comes(
      'Confirm your address: https://accounts.shop.example/verify?token=abcdefabcdefabcdef\nEvil: https://evil.test/verify?token=abcdefabcdefabcdef',
    );
    const answer = await code({ since });
    expect(answer).toMatchObject({
      code: null,
      link: { handle: 'link:1', host: 'accounts.shop.example', registrableDomain: 'shop.example' },
    });
    expect(JSON.stringify(answer)).not.toContain('abcdefabcdef');
    const { id: messageId } = answer['message'] as { id: string };
    const { link } = await tenants.do('resolve_link', { mailbox, messageId, handle: 'link:1' });
    expect(link).toMatchObject({ untrusted: { url: expect.stringContaining('abcdefabcdef') } });
  });

  test('of one kind only where one is asked for', async () => {
    const since = await now();
    await comes('Your code: 246810\nOr confirm: https://shop.example/verify?token=abcdefabcdefabcdef');
    expect(await code({ since })).toMatchObject({ code: '246810', link: { handle: 'link:1' } });
    expect(await code({ since, kind: 'link' })).toMatchObject({ code: null, link: { handle: 'link:1' } });
    expect(await code({ since, kind: 'code' })).toMatchObject({ code: '246810', link: null });
  });

  test('withholds what holds much more than a person sees', async () => {
    const since = await now();
    const hidden = `Your code: 121212 ${String.fromCodePoint(...Array.from({ length: 80 }, (_, i) => 0xe0041 + (i % 26)))}`;
    await comes(hidden);
    expect(await code({ since })).toMatchObject({ matched: false, withheld: 'content_quarantined' });
  });

  test('in local mode believes what this machine delivers, and says so', async () => {
    const since = await now();
    await comes('Your verification code is 314159.', 'no-reply@shop.example', FORGED);
    expect(await code({ since }, tenants.world as never)).toMatchObject({
      matched: true,
      code: '314159',
      sender: 'local',
    });
    const open = { ...tenants.world, settings: { ...tenants.world.settings, listen: ['0.0.0.0'] } };
    expect(await code({ since }, open as never)).toMatchObject({ matched: false, withheld: 'unauthenticated_sender' });
  });

  test.each(['shop.example', 'https://www.shop.example/join', 'no-reply@shop.example', 'SHOP.EXAMPLE'])(
    'knows the site as %s',
    async (expectFrom) => {
      const since = await now();
      await comes('Your verification code is 271828.');
      expect(await code({ since, expectFrom })).toMatchObject({ code: '271828' });
    },
  );

  test('wants to know the site', async () => {
    for (const args of [{}, { expectFrom: 'shop' }, { expectFrom: 'no domain' }]) {
      const said = await tenants.try('wait_for_code', { mailbox, timeoutSeconds: 0, ...args });
      expect(said).toMatchObject({ refusal: { error: 'invalid_arguments' } });
    }
  });
});

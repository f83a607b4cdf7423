import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { EventReader } from '../support/event-source.ts';

const CORE = 'urn:ietf:params:jmap:core';

let box: Box;
let base: string;
let authorization: string;
let account: string;
let imap: ImapFlow;

beforeAll(async () => {
  box = await startBox();
  base = `http://127.0.0.1:${box.port('http')}`;
  authorization = `Basic ${Buffer.from(`${box.address}:${box.password}`).toString('base64')}`;
  const session = (await (await fetch(`${base}/jmap/session`, { headers: { authorization } })).json()) as {
    accounts: object;
  };
  [account = ''] = Object.keys(session.accounts);
  const auth = { user: box.address, pass: box.password };
  imap = new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imap'),
    secure: false,
    auth,
    logger: false,
    doSTARTTLS: false,
  });
  await imap.connect();
  await deliver('first');
  await imap.mailboxOpen('INBOX');
});
afterAll(async () => {
  await imap.logout();
  await box[Symbol.asyncDispose]();
});

async function deliver(subject: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), ignoreTLS: true });
  await transport.sendMail({ from: 'x@else.test', to: box.address, subject, text: 'x' });
}

const events = (query: string, headers: Record<string, string> = {}): Promise<EventReader> =>
  EventReader.open(`${base}/jmap/eventsource?${query}`, { authorization, ...headers });

interface Change {
  '@type': string;
  changed: Record<string, Record<string, string>>;
  pushState?: string;
}

describe('EventSource', () => {
  test('new mail is reported with the changed types', async () => {
    await using stream = await events('types=*&closeafter=no&ping=0');
    await deliver('second');
    const event = await stream.next();
    expect(event?.event).toBe('state');
    const change = event?.data as Change;
    expect(change['@type']).toBe('StateChange');
    expect(Object.keys(change.changed)).toEqual([account]);
    expect(Object.keys(change.changed[account] ?? {})).toEqual(
      expect.arrayContaining(['Email', 'EmailDelivery', 'Thread']),
    );
  });

  test('a flag set by IMAP does not change EmailDelivery', async () => {
    await using stream = await events('types=Email,EmailDelivery&closeafter=no&ping=0');
    await imap.messageFlagsAdd('1', [String.raw`\Flagged`]);
    const change = (await stream.next())?.data as Change;
    expect(Object.keys(change.changed[account] ?? {})).toEqual(['Email']);
  });

  test('only requested types are reported', async () => {
    await using stream = await events('types=EmailDelivery,Unheard&closeafter=no&ping=0');
    await imap.messageFlagsRemove('1', [String.raw`\Flagged`]);
    await deliver('third');
    const change = (await stream.next())?.data as Change;
    expect(Object.keys(change.changed[account] ?? {})).toEqual(['EmailDelivery']);
  });

  test('closeafter=state closes after one event', async () => {
    await using stream = await events('types=*&closeafter=state&ping=0');
    await deliver('fourth');
    expect((await stream.next())?.event).toBe('state');
    expect(await stream.next()).toBeUndefined();
  });

  test('a reconnecting client gets missed changes at once', async () => {
    let id: string | undefined;
    {
      await using stream = await events('types=*&closeafter=no&ping=0');
      await deliver('fifth');
      id = (await stream.next())?.id;
    }
    expect(id).toMatch(/^mbx_\d+:[0-9a-z]+$/);
    await deliver('sixth');
    await using again = await events('types=*&closeafter=no&ping=0', { 'last-event-id': id ?? '' });
    const change = (await again.next())?.data as Change;
    expect(Object.keys(change.changed[account] ?? {})).toContain('EmailDelivery');
  });

  test('pings state their interval, which is at least 5 s', async () => {
    await using stream = await events('types=*&closeafter=no&ping=1');
    expect(await stream.next()).toEqual({ event: 'ping', data: { interval: 5 } });
  }, 180_000);

  test.each(['closeafter=no&ping=0', 'types=*&ping=0', 'types=*&closeafter=no', 'types=*&closeafter=x&ping=0'])(
    '%s is refused',
    async (query) => {
      await expect(events(query)).rejects.toThrow('400');
    },
  );
});

describe('WebSocket', () => {
  async function open(): Promise<{
    socket: WebSocket;
    say: (message: unknown) => void;
    next: () => Promise<Record<string, unknown>>;
  }> {
    const url = `${base.replace('http', 'ws')}/jmap/ws`;
    const socket = new WebSocket(url, { protocols: ['jmap'], headers: { authorization } });
    const heard: Record<string, unknown>[] = [];
    let wake = (): void => undefined;
    socket.addEventListener('message', ({ data }) => {
      heard.push(JSON.parse(String(data)) as Record<string, unknown>);
      wake();
    });
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error('not opened')));
    });
    return {
      socket,
      say: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
      async next() {
        while (heard.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        return heard.shift() ?? {};
      },
    };
  }

  test('responses have the id of their request', async () => {
    const { socket, say, next } = await open();
    expect(socket.protocol).toBe('jmap');
    say({ '@type': 'Request', id: 'R1', using: [CORE], methodCalls: [['Core/echo', { a: 1 }, 'c']] });
    expect(await next()).toMatchObject({
      '@type': 'Response',
      requestId: 'R1',
      methodResponses: [['Core/echo', { a: 1 }, 'c']],
    });
    socket.close();
  });

  test.each([
    ['{', 'notJSON'],
    ['[]', 'notRequest'],
    ['{"@type":"Nothing"}', 'notRequest'],
    ['{"@type":"Request","using":["urn:x"],"methodCalls":[]}', 'unknownCapability'],
  ])('%s is answered with a RequestError', async (text, type) => {
    const { socket, say, next } = await open();
    say(text);
    expect(await next()).toMatchObject({
      '@type': 'RequestError',
      type: `urn:ietf:params:jmap:error:${type}`,
      status: 400,
    });
    socket.close();
  });

  test('changes are pushed once enabled, and missed ones with a pushState', async () => {
    const { socket, say, next } = await open();
    say({ '@type': 'WebSocketPushEnable', dataTypes: ['EmailDelivery'] });
    say({ '@type': 'Request', id: 'R1', using: [CORE], methodCalls: [] });
    await next();
    await deliver('over a socket');
    const change = (await next()) as unknown as Change;
    expect(change).toMatchObject({
      '@type': 'StateChange',
      changed: { [account]: { EmailDelivery: expect.any(String) } },
    });
    socket.close();
    await deliver('while away');
    const again = await open();
    again.say({ '@type': 'WebSocketPushEnable', dataTypes: null, pushState: change.pushState });
    expect(await again.next()).toMatchObject({ '@type': 'StateChange' });
    again.say({ '@type': 'WebSocketPushDisable' });
    again.socket.close();
  });

  test('a connection without a credential is refused', async () => {
    const answer = await fetch(`${base}/jmap/ws`, {
      headers: { connection: 'upgrade' },
    }).catch(() => undefined);
    expect(answer?.status ?? 401).not.toBe(101);
    const socket = new WebSocket(`${base.replace('http', 'ws')}/jmap/ws`, ['jmap']);
    await new Promise((resolve) => socket.addEventListener('error', resolve));
    expect(socket.readyState).toBe(WebSocket.CLOSED);
  });
});

test('a rotated password closes open connections', async () => {
  const made = (await box.ask('create_app_password', { address: box.address, name: 'phone' })) as {
    password: string;
    appPassword: { id: string };
  };
  const basic = `Basic ${Buffer.from(`${box.address}:${made.password}`).toString('base64')}`;
  await using stream = await EventReader.open(`${base}/jmap/eventsource?types=*&closeafter=no&ping=0`, {
    authorization: basic,
  });
  await box.ask('revoke_app_password', { address: box.address, appPasswordId: made.appPassword.id });
  expect(await stream.next()).toBeUndefined();
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Box, startBox } from './box.ts';
import { dnsServer } from './dns-server.ts';
import { FakeS3 } from './fake-s3.ts';
import { type ScriptedServer, scriptedServer } from './scripted-smtp.ts';

export const ME = 'me@home.example';

/** Nodes in live mode on one database and one bucket, with the mailbox me@home.example, and a server that takes their mail. */
export interface Nodes extends AsyncDisposable {
  readonly boxes: readonly Box[];
  readonly password: string;
  readonly remote: ScriptedServer;
  readonly s3: FakeS3;
  /** The node that leads, as it says itself; undefined: none, or two. */
  leader(): Promise<Box | undefined>;
}

export interface NodesOptions {
  /** URL of the database of each node. */
  databases: readonly string[];
  /** In local mode, whose mailbox me@box.test has a password that tests know. */
  local?: true;
  settings?: Readonly<Record<string, string>>;
}

export async function startNodes({ databases, local, settings = {} }: NodesOptions): Promise<Nodes> {
  const directory = mkdtempSync(join(tmpdir(), 'nodes-'));
  const keyFile = join(directory, 'secret.key');
  const s3 = await FakeS3.start();
  const remote = await scriptedServer();
  const dns = await dnsServer({ 'MX remote.example': ['10 mx.remote.example'], 'A mx.remote.example': ['127.0.0.1'] });
  const { endpoint, bucket, prefix, accessKey, secretKey } = s3.options;
  const boxes: Box[] = [];
  for (const [at, database] of databases.entries()) {
    const own = {
      EXEMPT_NETWORKS: '127.0.0.0/8',
      RESOLVERS: dns.address,
      OUTBOUND_PORT: String(remote.port),
      SENDING_RAMP: 'off',
      DATABASE: database,
      NODE: `node-${at + 1}`,
      KEY_FILE: keyFile,
      BLOBS: `s3://${bucket}/${prefix}`,
      BLOBS_CACHE: '16',
      BLOBS_S3_ENDPOINT: endpoint.href,
      BLOBS_S3_ACCESS_KEY: accessKey,
      BLOBS_S3_SECRET_KEY: secretKey,
      ...settings,
    };
    boxes.push(await startBox({ ...(local === undefined && { hostname: 'mail.home.example' }), settings: own }));
  }
  const [first] = boxes as [Box];
  const password = local ? first.password : await addMailbox(first);
  return {
    boxes,
    password,
    remote,
    s3,
    async leader() {
      const running = boxes.filter((box) => box.running);
      const leading = await Promise.all(running.map(leads));
      const leaders = running.filter((_, at) => leading[at]);
      return leaders.length === 1 ? leaders[0] : undefined;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(boxes.map((box) => box[Symbol.asyncDispose]()));
      for (const one of [dns, remote, s3]) await one[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true });
    },
  };
}

async function addMailbox(box: Box): Promise<string> {
  await box.ask('add_domain', { domain: 'home.example' });
  return ((await box.ask('add_mailbox', { address: ME })) as { password: string }).password;
}

async function leads(box: Box): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${box.port('http')}/readyz`).catch(() => undefined);
  return ((await response?.json()) as { leads?: boolean } | undefined)?.leads === true;
}

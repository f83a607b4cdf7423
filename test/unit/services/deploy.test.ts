import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Caller } from '../../../src/core/caller.ts';
import { createAppPassword } from '../../../src/operations/mailboxes/app-passwords.ts';
import { addEmailDomain } from '../../../src/operations/domains/add.ts';
import { provisionEmail } from '../../../src/operations/mailboxes/provision.ts';
import { attachEmailToService, detachEmailFromService } from '../../../src/operations/services/attachments.ts';
import { deployService, restartService, rollbackService } from '../../../src/operations/services/deploy.ts';
import { getServiceEnvironment } from '../../../src/operations/services/environment.ts';
import { listDeployments, readLogs } from '../../../src/operations/services/history.ts';
import { removeService, restoreServiceOf } from '../../../src/operations/services/deletion.ts';
import { purgeDeletedServices } from '../../../src/services/deletion-commands.ts';
import { makeService } from '../../../src/operations/services/services.ts';
import { setControl } from '../../../src/services/commands.ts';
import { envFilePath } from '../../../src/services/env-file.ts';
import { calls, type Calls } from '../../support/calls.ts';
import { readAsSystemd } from '../../support/env-readers.ts';
import { sharedNode } from '../../support/shared-node.ts';

let box: Calls;
let owner: Caller;
let serviceId: string;
let id: number;

beforeEach(async () => {
  box = await calls();
  owner = await box.organization('Owner');
  const { service } = await box.done<{ service: { id: string } }>(owner, makeService, { name: 'shop' });
  serviceId = service.id;
  id = Number(serviceId.slice(4));
  await setting({ kind: 'none' });
});
afterEach(() => box[Symbol.asyncDispose]());

interface Deployed {
  revision: number;
  state: string;
  detail: string;
}
const deploy = (more: object = {}) => box.done<Deployed>(owner, deployService, { serviceId, ...more });
/** All processes of the user of a service are ended with it: another run beside this one has another user. */
const USER = 30_000 + (process.pid % 30_000);
const setting = (control: object) =>
  box.world.store.write(setControl, { id, control: JSON.stringify({ variables: ['A', 'N'], ...control }) });
const control = (...command: string[]) => setting({ kind: 'command', command, uid: USER });
const fileNow = async () => readAsSystemd(await readFile(envFilePath(box.test.store.dataDir, id), 'utf8'));
const logged = async () =>
  (await box.done<{ untrusted: { lines: { text: string }[] } }>(owner, readLogs, { serviceId })).untrusted.lines.map(
    (line) => line.text,
  );
const program = (text: string) => control(sharedNode(), '-e', `${text}; setInterval(() => {}, 1e3)`);

/** The program that a deployment says it started. */
function pidOf({ detail }: Deployed): number {
  const pid = Number(/^started, pid (\d+)$/.exec(detail)?.[1]);
  return pid > 1 ? pid : expect.fail(`no pid: ${detail}`);
}
/** Ends the processes of a service, if the server has not done so meanwhile. */
function kill(pid: number): void {
  if (runs(pid)) process.kill(-pid, 'SIGKILL');
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync('/proc/self/stat') || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('twenty deployments at once', () => {
  test('get the numbers 1 to 20, and one of them is current and in the file', async () => {
    const done = await Promise.all(Array.from({ length: 20 }, (_, i) => deploy({ env: { N: `${i}` } })));
    expect(done.map((one) => one.revision).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
    const { current, deployments } = await box.done<{ current: number; deployments: Deployed[] }>(
      owner,
      listDeployments,
      { serviceId },
    );
    expect(current).toBe(20);
    expect(deployments.map((one) => one.state)).toEqual(['running', ...Array<string>(19).fill('superseded')]);
    const last = done.findIndex((one) => one.revision === 20);
    expect((await fileNow())['N']).toBe(`${last}`);
    expect(done[last]?.state).toBe('running');
    // Each wrote its rows, and none of them for nothing.
    expect(
      await box.rows(
        `SELECT outcome, count(*) AS n FROM audit WHERE operation = 'deploy_service' AND detail NOT LIKE '%state%' GROUP BY outcome`,
      ),
    ).toEqual([{ outcome: 'added', n: 20 }]);
  });

  test('of a program leave one that runs, with the environment that is current', async () => {
    await program('console.log(`number ${process.env.N}`)');
    const done = await Promise.all(Array.from({ length: 8 }, (_, i) => deploy({ env: { N: `${i}` } })));
    const last = done.findIndex((one) => one.revision === 8);
    await expect.poll(logged).toContain(`number ${last}`);
    const pids = done.filter((one) => one.state === 'running').map(pidOf);
    expect(pids.filter(runs)).toEqual([pidOf(done[last] ?? expect.fail())]);
    expect((await logged()).filter((line) => line.startsWith('number')).at(-1)).toBe(`number ${last}`);
    await box.test[Symbol.asyncDispose]();
    expect(pids.filter(runs)).toEqual([]);
    box = await calls();
  });

  test('that say nothing of the environment do not bring an older one back', async () => {
    await deploy({ env: { N: 'first' } });
    await Promise.all([
      deploy({ env: { N: 'second' } }),
      ...Array.from({ length: 10 }, () => deploy({ spec: { image: 2 } })),
    ]);
    expect((await fileNow())['N']).toBe('second');
  });
});

test('a program that cannot start makes the revision a failed one, and the next one is not held up by it', async () => {
  await control('/does/not/exist');
  expect(await deploy()).toMatchObject({ revision: 1, state: 'failed', detail: expect.stringContaining('ENOENT') });
  await program('console.log("here")');
  expect(await deploy()).toMatchObject({ revision: 2, state: 'running' });
  const { deployments } = await box.done<{ deployments: Deployed[] }>(owner, listDeployments, { serviceId });
  expect(deployments.map((one) => one.state)).toEqual(['running', 'failed']);
});

describe('a deleted service', () => {
  test('has no program, environment file or log, and no rows but those that restore it', async () => {
    await program('console.log("here")');
    const pid = pidOf(await deploy({ env: { A: '1' } }));
    expect(runs(pid)).toBe(true);
    await box.done(owner, removeService, { serviceId });
    expect(runs(pid)).toBe(false);
    expect(existsSync(envFilePath(box.test.store.dataDir, id))).toBe(false);
    expect(existsSync(`${box.test.store.dataDir}/services/${serviceId}.log`)).toBe(false);
    for (const table of ['service', 'service_mailbox']) {
      expect(await box.rows(`SELECT count(*) AS n FROM ${table}`), table).toEqual([{ n: 0 }]);
    }
    await box.run('UPDATE deleted_service SET purge_at = 0');
    while (await box.world.store.write(purgeDeletedServices, undefined));
    for (const table of ['deleted_service', 'service_revision']) {
      expect(await box.rows(`SELECT count(*) AS n FROM ${table}`), table).toEqual([{ n: 0 }]);
    }
    expect(await box.refused(owner, deployService, { serviceId })).toMatchObject({ error: 'not_found' });
  });

  test('runs again when it is restored, with the environment that it had', async () => {
    await program('console.log("here")');
    await deploy({ env: { A: '1' } });
    await box.done(owner, removeService, { serviceId });
    const done = await box.done<{ detail: string }>(owner, restoreServiceOf, { serviceId });
    const pid = Number(/pid (\d+)/.exec(done.detail)?.[1]);
    expect(runs(pid)).toBe(true);
    expect((await fileNow())['A']).toBe('1');
    await box.done(owner, removeService, { serviceId });
    expect(runs(pid)).toBe(false);
  });

  test('stays deleted when it is deployed and restarted meanwhile', async () => {
    const marker = `${box.test.store.dataDir}/pids`;
    await program(`require("fs").appendFileSync(${JSON.stringify(marker)}, process.pid + "\\n")`);
    await deploy({ env: { A: '1' } });
    await Promise.all([
      ...Array.from({ length: 4 }, () => box.perform(owner, deployService, { serviceId, env: { A: '2' } })),
      box.perform(owner, removeService, { serviceId }),
      ...Array.from({ length: 4 }, () => box.perform(owner, restartService, { serviceId })),
      box.perform(owner, deployService, { serviceId, env: { A: '3' } }),
    ]);
    const pids = existsSync(marker) ? readFileSync(marker, 'utf8').trim().split('\n').map(Number) : [];
    expect(pids.filter(runs)).toEqual([]);
    expect(existsSync(envFilePath(box.test.store.dataDir, id))).toBe(false);
    expect(await box.rows('SELECT count(*) AS n FROM service')).toEqual([{ n: 0 }]);
  });
});

test('one service that does not end holds up no other', async () => {
  await program('process.on("SIGTERM", () => {}); console.log("ready")');
  const first = pidOf(await deploy());
  await expect.poll(logged).toContain('ready');
  let isOver = false;
  const slow = deploy().finally(() => (isOver = true));
  const { service } = await box.done<{ service: { id: string } }>(owner, makeService, { name: 'other' });
  expect(await box.done(owner, deployService, { serviceId: service.id })).toMatchObject({ state: 'running' });
  expect(isOver).toBe(false);
  kill(first);
  kill(pidOf(await slow));
});

test('rolling back to what there never was, or restarting what was never deployed, is refused', async () => {
  expect(await box.refused(owner, restartService, { serviceId })).toMatchObject({ error: 'conflict' });
  await deploy({ env: { A: '1' } });
  expect(await box.refused(owner, rollbackService, { serviceId, revision: 2 })).toMatchObject({ error: 'not_found' });
  await deploy({ env: { A: '2' } });
  expect(await box.done(owner, rollbackService, { serviceId, revision: 1 })).toMatchObject({
    revision: 1,
    state: 'running',
  });
  expect(await fileNow()).toEqual({ A: '1' });
  expect(await deploy()).toMatchObject({ revision: 3 });
  expect(await fileNow()).toEqual({ A: '1' });
});

test('revisions older than the last hundred go', async () => {
  for (let i = 0; i < 105; i++) await deploy({ env: { N: `${i}` } });
  expect(await box.rows('SELECT count(*) AS n, min(number) AS first FROM service_revision')).toEqual([
    { n: 100, first: 6 },
  ]);
  expect(await box.refused(owner, rollbackService, { serviceId, revision: 5 })).toMatchObject({ error: 'not_found' });
});

describe('an environment', () => {
  const LOADERS = [
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'PATH',
    'NODE_OPTIONS',
    'npm_config_node_options',
    'BASH_ENV',
    'PYTHONSTARTUP',
    'PERL5OPT',
    'RUBYOPT',
    'JAVA_TOOL_OPTIONS',
    '_JAVA_OPTIONS',
    'GIT_SSH_COMMAND',
    'DYLD_INSERT_LIBRARIES',
    'GLIBC_TUNABLES',
  ];
  const WRONG = ['EMAIL_ADDRESS', 'EMAIL_', 'A B', 'A=B', '1A', '', 'A-B', 'É', 'A\n', '__proto__ '];

  test('has only names that the operator allows, and the deployment says which are left out', async () => {
    const env = Object.fromEntries([...LOADERS, 'A'].map((name) => [name, 'x']));
    const { detail } = await deploy({ env });
    expect(detail.split(': ').at(-1)).toBe(LOADERS.join(', '));
    expect(await fileNow()).toEqual({ A: 'x' });
    expect(await box.done(owner, getServiceEnvironment, { serviceId })).toMatchObject({ env: { A: 'x' } });
  });

  test('cannot have names that are none', async () => {
    for (const name of WRONG) {
      const refusal = await box.refused(owner, deployService, { serviceId, env: { [name]: 'x' } });
      expect(refusal, name).toMatchObject({ error: 'invalid_arguments' });
    }
    expect(await box.rows('SELECT count(*) AS n FROM service_revision')).toEqual([{ n: 0 }]);
  });

  test('cannot have values that are not one line', async () => {
    for (const value of ['a\nB=c', 'a\r', 'a\0', 'a\u2028b', 'a\u0085b', '\ud800', 'x'.repeat(16_001)]) {
      const refusal = await box.refused(owner, deployService, { serviceId, env: { A: value } });
      expect(refusal, value).toMatchObject({ error: 'invalid_arguments' });
    }
  });

  test('may have every name that the operator allows', async () => {
    const names = [
      'NODE_ENV',
      'LDAP_URL',
      'MY_PATH',
      'DATABASE_URL',
      'PYTHONUNBUFFERED',
      'email_address',
      '_',
      'ENVIRONMENT',
    ];
    const env = Object.fromEntries(names.map((name) => [name, "it's $5"]));
    await setting({ kind: 'none', variables: names });
    await deploy({ env });
    expect(await fileNow()).toEqual(env);
  });

  test('is on disk only sealed', async () => {
    await deploy({ env: { A: 'a-very-secret-value' } });
    const [row] = await box.rows<{ env: Uint8Array; spec: string }>('SELECT env, spec FROM service_revision');
    expect(Buffer.from(row?.env ?? []).toString('latin1')).not.toContain('secret');
    expect(await box.rows(`SELECT count(*) AS n FROM audit WHERE detail LIKE '%secret-value%'`)).toEqual([{ n: 0 }]);
  });
});

describe('a mailbox of a service', () => {
  beforeEach(async () => {
    await box.done(owner, addEmailDomain, { domain: 'shop.example' });
    for (const localPart of ['orders', 'support'])
      await box.done(owner, provisionEmail, { domain: 'shop.example', localPart });
  });
  const attach = (address: string, alias?: string) =>
    box.perform(owner, attachEmailToService, { address, serviceId, ...(alias !== undefined && { alias }) });

  test('twenty attachments at once are one, and a second mailbox needs an alias', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => attach('orders@shop.example')));
    expect(all.filter((one) => one.kind === 'done' && one.result['alreadyAttached'] === false)).toHaveLength(1);
    expect(await box.rows('SELECT count(*) AS n FROM service_mailbox')).toEqual([{ n: 1 }]);
    expect(await attach('support@shop.example')).toMatchObject({ kind: 'refused', refusal: { error: 'conflict' } });
    expect(await attach('support@shop.example', 'help')).toMatchObject({ kind: 'done' });
    const env = await fileNow();
    expect(env).toMatchObject({ EMAIL_ADDRESS: 'orders@shop.example', EMAIL_HELP_ADDRESS: 'support@shop.example' });
    expect(Object.keys(env)).toHaveLength(26);
    const shown = await box.done<{ env: object }>(owner, getServiceEnvironment, { serviceId });
    expect(shown.env).toEqual(env);
  });

  test('cannot have an alias that means something else, or is none', async () => {
    for (const alias of ['IMAP', 'smtp', 'Jmap', 'ADDRESS', 'A_B', '1A', '', 'A-B', 'x'.repeat(32)]) {
      const outcome = await attach('orders@shop.example', alias);
      expect(outcome, alias).toMatchObject({ kind: 'refused', refusal: { error: 'invalid_arguments' } });
    }
  });

  test('attached and detached at once a hundred times: the file has what the rows say', async () => {
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        i % 2 === 0
          ? attach('orders@shop.example')
          : box.perform(owner, detachEmailFromService, { address: 'orders@shop.example', serviceId }),
      ),
    );
    const [row] = await box.rows<{ n: number }>('SELECT count(*) AS n FROM service_mailbox');
    expect(Object.keys(await fileNow())).toHaveLength(row?.n === 1 ? 13 : 0);
  });

  test('of another organization is not there for it', async () => {
    const other = await box.organization('Other');
    await box.done(other, addEmailDomain, { domain: 'other.example' });
    await box.done(other, provisionEmail, { domain: 'other.example', localPart: 'x' });
    expect(await attach('x@other.example')).toMatchObject({ kind: 'refused', refusal: { error: 'not_found' } });
    const foreign = await box.refused(other, attachEmailToService, { address: 'x@other.example', serviceId });
    const unknown = await box.refused(other, attachEmailToService, {
      address: 'x@other.example',
      serviceId: 'svc_999',
    });
    expect({ ...foreign, requestId: '' }).toEqual({ ...unknown, requestId: '' });
    expect(await box.refused(other, createAppPassword, { address: 'orders@shop.example', name: 'x' })).toMatchObject({
      error: 'not_found',
    });
  });
});

import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { sharedNode } from '../support/shared-node.ts';

const USER = 61_001;

/** Tries a way in and reports it by its name: nothing is printed for a way that is shut. */
const HOSTILE = `
const fs = require('node:fs'), net = require('node:net'), { spawnSync, execFileSync } = require('node:child_process');
const [dataDir, server] = process.argv.slice(1);
const ways = {
  'list the data directory': () => fs.readdirSync(dataDir),
  'read the key': () => fs.readFileSync(dataDir + '/secret.key'),
  'read the database': () => fs.readFileSync(dataDir + '/mailstead.db'),
  'read the environment of a service': () => fs.readFileSync(dataDir + '/services/svc_1.env'),
  'write its own log': () => fs.appendFileSync(dataDir + '/services/svc_1.log', 'x'),
  'change the mode of the data directory': () => fs.chmodSync(dataDir, 0o777),
  'read the environment of the server': () => fs.readFileSync('/proc/' + server + '/environ'),
  'read the memory of the server': () => fs.openSync('/proc/' + server + '/mem', 'r'),
  'list the files of the server': () => fs.readdirSync('/proc/' + server + '/fd'),
  'enter the root of the server': () => fs.readdirSync('/proc/' + server + '/root'),
  'enter the directory of the server': () => fs.readdirSync('/proc/' + server + '/cwd'),
  'signal the server': () => process.kill(Number(server), 0),
  'become root': () => process.setuid(0),
  'become root by a setuid program': () => execFileSync('su', ['-c', 'id', 'root'], { stdio: 'ignore' }),
  'write where it starts for others': () => { if ((fs.statSync('.').mode & 0o077) === 0) throw new Error(); },
  'have groups of the server': () => { if (process.getgroups().every((one) => one === 61001)) throw new Error(); },
  'have variables that were not allowed': () => { if (!Object.keys(process.env).some((one) => /^(npm_|NODE_|LD_|MAILSTEAD)/.test(one))) throw new Error(); },
  'have files of the server open': () => { if (fs.readdirSync('/proc/self/fd').every((fd) => { try { return !fs.readlinkSync('/proc/self/fd/' + fd).startsWith(dataDir); } catch { return true; } })) throw new Error(); },
  'have capabilities': () => { if (/^CapEff:\\s0+$/m.test(fs.readFileSync('/proc/self/status', 'utf8')) && /^NoNewPrivs:\\s1$/m.test(fs.readFileSync('/proc/self/status', 'utf8'))) throw new Error(); },
  'fork without a limit': () => { if (/^Max processes +512 /m.test(fs.readFileSync('/proc/self/limits', 'utf8'))) throw new Error(); },
};
for (const [name, way] of Object.entries(ways)) { try { way(); console.log('way in: ' + name); } catch {} }
const socket = net.connect(dataDir + '/control.sock');
socket.on('connect', () => { console.log('way in: the socket'); console.log('tried all'); });
socket.on('error', () => console.log('tried all ' + Object.keys(ways).length));
setInterval(() => {}, 1000);
`;

let services = 0;
async function service(box: Box, control: object): Promise<string> {
  const { service: made } = (await box.ask('create_service', { name: `hostile ${++services}` })) as {
    service: { id: string };
  };
  await box.ask('set_service_control', { serviceId: made.id, control });
  return made.id;
}
const logOf = (box: Box, id: string): string => readFileSync(`${box.dataDir}/services/${id}.log`, 'utf8');

test('a hostile program finds no way to the data, the socket and the processes of the server', async () => {
  // The groups disk and shadow, which the program must not inherit.
  await using box = await startBox({ wrapper: ['setpriv', '--groups=6,42'] });
  const command = [sharedNode(), '-e', HOSTILE, box.dataDir, String(box.pid)];
  const serviceId = await service(box, { kind: 'command', uid: USER, command });
  const env = {
    npm_config_node_options: '--import=data:text/javascript,console.log(`way%20in:%20loader`)',
    NODE_OPTIONS: '--inspect',
  };
  expect(await box.ask('deploy_service', { serviceId, env })).toMatchObject({ state: 'running' });
  await expect.poll(() => logOf(box, serviceId)).toContain('tried all');
  expect(logOf(box, serviceId).match(/way in: .*/g)).toBeNull();
  expect(logOf(box, serviceId)).toContain('tried all 20');
  await box.stop();
});

test.each([
  ['without a user', {}],
  ['as the owner of the data', { uid: 0 }],
])('a program %s is not set', async (_what, user) => {
  await using box = await startBox();
  const control = { kind: 'command', command: ['/bin/true'], ...user };
  await expect(service(box, control)).rejects.toThrow(/uid/);
});

/** Leaves its process group, and forks and ends again and again, so that no list of processes finds it; 5,000 times at most. */
const RUNAWAY = `#!/bin/sh
[ "$2" -lt 5000 ] || exit
setsid "$1" "$1" $(($2 + 1)) &
`;

/** Processes of a user; a zombie runs no more. */
function processesOf(uid: number): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      return status.includes(`\nUid:\t${uid}\t`) && !/^State:\t[ZX]/m.test(status);
    } catch {
      return false;
    }
  });
}

test.each(['is stopped', 'is restarted after a crash of the server'])(
  'a program that leaves its process group has ended when its service %s',
  async (when) => {
    const directory = mkdtempSync(join(tmpdir(), 'runaway-'));
    try {
      chmodSync(directory, 0o755);
      const path = join(directory, 'runaway');
      writeFileSync(path, RUNAWAY, { mode: 0o755 });
      await using box = await startBox();
      const script = 'setsid sleep 1000 & setsid "$0" "$0" 0 & echo begun $$; exec sleep 1000';
      const serviceId = await service(box, { kind: 'command', uid: USER, command: ['/bin/sh', '-c', script, path] });
      await box.ask('deploy_service', { serviceId });
      await expect.poll(() => logOf(box, serviceId)).toContain('begun');
      const before = processesOf(USER);
      expect(before.length).toBeGreaterThan(1);
      if (when === 'is stopped') await box.stop();
      else {
        await box.kill();
        await box.start();
        await expect.poll(() => logOf(box, serviceId).match(/begun/g)?.length).toBe(2);
        const sleeping = before.filter((pid) => processesOf(USER).includes(pid));
        expect(sleeping).toEqual([]);
        await box.stop();
      }
      expect(processesOf(USER)).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);

test('no program runs with a group that opens more than its own files', async () => {
  await using box = await startBox();
  // The number of the group kmem, and of no user.
  const serviceId = await service(box, { kind: 'command', uid: 15, command: ['/bin/sleep', '99'] });
  expect(await box.ask('deploy_service', { serviceId })).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining('group kmem'),
  });
});

test('no two programs run as the same user', async () => {
  await using box = await startBox();
  const command = { kind: 'command', uid: USER, command: ['/bin/sleep', '99'] };
  const first = await service(box, command);
  expect(await box.ask('deploy_service', { serviceId: first })).toMatchObject({ state: 'running' });
  const second = await service(box, command);
  const detail = expect.stringContaining(`uid ${USER} runs ${first}`);
  expect(await box.ask('deploy_service', { serviceId: second })).toMatchObject({ state: 'failed', detail });
  await box.stop();
});

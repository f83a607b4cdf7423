import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';

const NOBODY = 65_534;

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
  'have groups of the server': () => { if (process.getgroups().every((one) => one === 65534)) throw new Error(); },
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

async function service(box: Box, control: object): Promise<string> {
  const { service: made } = (await box.ask('create_service', { name: 'hostile' })) as { service: { id: string } };
  await box.ask('set_service_control', { serviceId: made.id, control });
  return made.id;
}
const logOf = (box: Box, id: string): string => readFileSync(`${box.dataDir}/services/${id}.log`, 'utf8');

test('a hostile program finds no way to the data, the socket and the processes of the server', async () => {
  await using box = await startBox();
  const command = [process.execPath, '-e', HOSTILE, box.dataDir, String(box.pid)];
  const serviceId = await service(box, { kind: 'command', uid: NOBODY, command });
  const env = {
    npm_config_node_options: '--import=data:text/javascript,console.log(`way%20in:%20loader`)',
    NODE_OPTIONS: '--inspect',
  };
  expect(await box.ask('deploy_service', { serviceId, env })).toMatchObject({ state: 'running' });
  await expect.poll(() => logOf(box, serviceId), { timeout: 20_000 }).toContain('tried all');
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

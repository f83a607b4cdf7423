import { workerData } from 'node:worker_threads';
import { KnownPolicies } from '../mail/auth/known-policies.ts';
import { createResolver } from '../mail/dns/resolver.ts';
import { createJudge } from '../mail/judge/judge.ts';
import { runJudgeThread } from '../mail/judge/thread.ts';
import { openForReading } from '../mail/store/engine/connection.ts';
import { Reader } from '../mail/store/engine/reader.ts';
import type { JudgeSettings } from './start/judge.ts';

// The third composition root: what the judge's thread loads. It reads the database and writes nothing.
const { database, servers, hostname, network, trustedSealers } = workerData as JudgeSettings;
const reader = new Reader(openForReading(database));
const judge = createJudge({
  resolver: network ? createResolver({ servers }) : null,
  hostname,
  policies: new KnownPolicies(),
  trustedSealers,
  read: (what, input) => reader.query(what, input),
});
runJudgeThread(judge, () => reader.close());

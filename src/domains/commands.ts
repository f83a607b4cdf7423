import { addDomain, dropDomain, pauseDomain, verifyDomain } from '../../mail/store/address/domain.ts';
import { command, type Write } from '../../mail/store/engine/types.ts';
import { type Delegation, DELEGATIONS } from './queries.ts';
import { dropReports } from '../reports/commands.ts';

/** Unverified domains of one organization: each costs two keys. */
export const MAX_UNVERIFIED = 100;
/** Sending of a verified domain pauses after its checks have failed for this time. */
export const PAUSE_AFTER_MS = 72 * 3_600_000;
/** Retired keys stay published as long as mail signed with them may be retried: 5 days (RFC 5321 4.5.4.1) and more. */
export const GRACE_MS = 7 * 24 * 3_600_000;

export type SetUpDomainResult =
  | { kind: 'added' | 'exists'; id: number }
  /** Another tenant has verified the domain; only reported if it was to be added without verification. */
  | { kind: 'taken' }
  | { kind: 'too-many' };

/** Adds a domain to a project; null: the tenant's first one. Idempotent. */
export const setUpDomain = command(
  'set-up-domain',
  async (
    tx,
    input: { tenant: number; name: string; verified: boolean; project: number | null },
    stamp,
  ): Promise<SetUpDomainResult> => {
    const unverified = await tx.get<{ n: number }>(
      'SELECT count(*) AS n FROM domain WHERE tenant = ? AND state = 0 AND name <> ?',
      input.tenant,
      input.name,
    );
    if (!input.verified && (unverified?.n ?? 0) >= MAX_UNVERIFIED) return { kind: 'too-many' };
    const added = await addDomain.run(tx, input, stamp);
    if (added.kind === 'taken') return added;
    const first = await tx.get<{ id: number }>(
      'SELECT id FROM project WHERE organization_id = ? ORDER BY id LIMIT 1',
      input.tenant,
    );
    const project = input.project ?? first?.id;
    if (project !== undefined) {
      await tx.run(
        'INSERT INTO domain_setup (domain_id, project_id) VALUES (?, ?) ON CONFLICT (domain_id) DO NOTHING',
        added.id,
        project,
      );
    }
    return added;
  },
);

export interface NewKey {
  selector: string;
  algorithm: string;
  sealed: Uint8Array;
  public: string;
}

/** Adds keys under free selectors. `sign` 0: published, and used once its record was seen. */
export const addKeys = command(
  'add-domain-keys',
  async (
    tx,
    input: { domain: number; keys: readonly NewKey[]; sign: 0 | 1 },
    stamp,
  ): Promise<{ kind: 'added'; selectors: string[] }> => {
    const selectors: string[] = [];
    for (const key of input.keys) {
      const { changes } = await tx.run(
        `INSERT INTO dkim_key (domain_id, selector, algorithm, private, public, state, created_at)
         SELECT id, ?, ?, ?, ?, ?, ? FROM domain WHERE id = ?
         ON CONFLICT (domain_id, selector) DO NOTHING`,
        key.selector,
        key.algorithm,
        key.sealed,
        key.public,
        input.sign,
        stamp.now,
        input.domain,
      );
      if (changes === 1) selectors.push(key.selector);
    }
    return { kind: 'added', selectors };
  },
);

/** Result of a DNS check. `trouble`: the DNS did not answer, so nothing is known. */
export type DomainVerdict = 'pass' | 'fail' | 'trouble';

export interface CheckOutcome {
  kind: 'verified' | 'unverified' | 'taken' | 'missing';
  /** Verified, paused or resumed just now, or other keys sign. */
  changed: boolean;
}

/**
 * Records a DNS check. A pass verifies the domain unless another tenant did before; a failure starts the time after which
 * sending pauses; trouble changes nothing. Keys whose records were seen begin to sign.
 */
export const recordCheck = command(
  'record-domain-check',
  async (
    tx,
    input: { id: number; verdict: DomainVerdict; checks: string; seen: readonly string[] },
    stamp,
  ): Promise<CheckOutcome> => {
    const domain = await tx.get<{ state: number; paused_at: number | null }>(
      'SELECT state, paused_at FROM domain WHERE id = ?',
      input.id,
    );
    if (domain === undefined) return { kind: 'missing', changed: false };
    await tx.run(
      'UPDATE domain_setup SET checks = ?, last_checked_at = ? WHERE domain_id = ?',
      input.checks,
      stamp.now,
      input.id,
    );
    const rotated = await signWith(tx, input.id, input.seen, stamp.now);
    if (input.verdict === 'pass') {
      const done = await verifyDomain.run(tx, { id: input.id }, stamp);
      if (done !== 'verified') return { kind: done, changed: rotated };
      await tx.run('UPDATE domain_setup SET failing_since = NULL WHERE domain_id = ?', input.id);
      await pauseDomain(tx, input.id, null);
      return { kind: 'verified', changed: rotated || domain.state !== 1 || domain.paused_at !== null };
    }
    if (domain.state !== 1) return { kind: 'unverified', changed: rotated };
    const paused = input.verdict === 'fail' && (await recordFailure(tx, input.id, domain.paused_at, stamp.now));
    return { kind: 'verified', changed: rotated || paused };
  },
);

/** Returns if sending was paused just now. */
async function recordFailure(tx: Write, id: number, pausedAt: number | null, now: number): Promise<boolean> {
  await tx.run('UPDATE domain_setup SET failing_since = coalesce(failing_since, ?) WHERE domain_id = ?', now, id);
  const setup = await tx.get<{ failing_since: number }>(
    'SELECT failing_since FROM domain_setup WHERE domain_id = ?',
    id,
  );
  if (pausedAt !== null || setup === undefined || now - setup.failing_since < PAUSE_AFTER_MS) return false;
  await pauseDomain(tx, id, now);
  return true;
}

/** Replaces signing keys by published ones of the same algorithm that were seen. Returns if any was. */
async function signWith(tx: Write, domain: number, seen: readonly string[], now: number): Promise<boolean> {
  let changed = false;
  for (const selector of seen) {
    const key = await tx.get<{ id: number; algorithm: string }>(
      'SELECT id, algorithm FROM dkim_key WHERE domain_id = ? AND selector = ? AND state = 0',
      domain,
      selector,
    );
    if (key === undefined) continue;
    await tx.run(
      'UPDATE dkim_key SET state = 2, retired_at = ? WHERE domain_id = ? AND algorithm = ? AND state = 1',
      now,
      domain,
      key.algorithm,
    );
    await tx.run('UPDATE dkim_key SET state = 1 WHERE id = ?', key.id);
    changed = true;
  }
  return changed;
}

/** Deletes keys that were retired long ago, which frees their selectors. */
export const purgeKeys = command('purge-domain-keys', async (tx, input: { domain: number }, stamp): Promise<void> => {
  await tx.run(
    'DELETE FROM dkim_key WHERE domain_id = ? AND state = 2 AND retired_at <= ?',
    input.domain,
    stamp.now - GRACE_MS,
  );
});

/**
 * Starts or stops serving a domain's records. A delegation to the box's name alone does not decide between several claims: the
 * first one keeps it. A claim that is named by its own server precedes all unverified ones.
 */
export const setManaged = command(
  'set-domain-managed',
  async (tx, input: { id: number; delegation: Delegation }): Promise<{ kind: 'managed' | 'unmanaged' }> => {
    const mine = await tx.get<{ name: string; state: number; managed: number }>(
      'SELECT d.name, d.state, s.managed FROM domain d JOIN domain_setup s ON s.domain_id = d.id WHERE d.id = ?',
      input.id,
    );
    if (mine === undefined) return { kind: 'unmanaged' };
    const others = await tx.all<{ id: number; state: number }>(
      'SELECT id, state FROM domain WHERE name = ? AND id <> ?',
      mine.name,
      input.id,
    );
    const own = input.delegation === 'own' || input.delegation === 'both';
    const first = own || mine.state === 1 || mine.managed !== 0 || others.length === 0;
    const managed = input.delegation !== 'none' && first && !others.some((one) => one.state === 1);
    if (managed)
      for (const { id } of others) await tx.run('UPDATE domain_setup SET managed = 0 WHERE domain_id = ?', id);
    const kept = managed ? DELEGATIONS.indexOf(input.delegation) : 0;
    await tx.run('UPDATE domain_setup SET managed = ? WHERE domain_id = ?', kept, input.id);
    return { kind: managed ? 'managed' : 'unmanaged' };
  },
);

/**
 * Stops serving a domain's records with its last mailbox; for commands that delete a mailbox, in their transaction, after its
 * address. Returns if it did.
 */
export async function tearDownManaged(tx: Write, domain: number): Promise<boolean> {
  const left = await tx.get(`SELECT 1 AS there FROM address WHERE domain_id = ? AND kind = 'mailbox' LIMIT 1`, domain);
  if (left !== undefined) return false;
  const { changes } = await tx.run('UPDATE domain_setup SET managed = 0 WHERE domain_id = ? AND managed <> 0', domain);
  return changes === 1;
}

export type RemoveDomainResult =
  { kind: 'removed' } | { kind: 'mailboxes'; count: number; sample: string[] } | { kind: 'missing' };

/** Deletes a domain with its keys, records and forwards; refused while it has a mailbox. */
export const removeDomain = command(
  'remove-domain',
  async (tx, input: { tenant: number; id: number }): Promise<RemoveDomainResult> => {
    const mine = await tx.get('SELECT 1 AS there FROM domain WHERE id = ? AND tenant = ?', input.id, input.tenant);
    if (mine === undefined) return { kind: 'missing' };
    const sample = await tx.all<{ key: string }>(
      'SELECT key FROM address WHERE domain_id = ? ORDER BY key LIMIT 5',
      input.id,
    );
    const counted = await tx.get<{ n: number }>('SELECT count(*) AS n FROM address WHERE domain_id = ?', input.id);
    if (sample.length > 0) return { kind: 'mailboxes', count: counted?.n ?? 0, sample: sample.map((one) => one.key) };
    const gone = await dropDomain(tx, input.id);
    if (gone.kind === 'addresses') return { kind: 'mailboxes', count: 1, sample: [] };
    await tx.run('DELETE FROM domain_setup WHERE domain_id = ?', input.id);
    await tx.run('DELETE FROM own_sts_policy WHERE domain_id = ?', input.id);
    await tx.run('DELETE FROM dns_provider WHERE domain_id = ?', input.id);
    await tx.run('DELETE FROM dns_written WHERE domain_id = ?', input.id);
    await tx.run('DELETE FROM dns_drift WHERE domain_id = ?', input.id);
    await tx.run('DELETE FROM forwarder WHERE domain_id = ?', input.id);
    await dropReports(tx, input.id);
    return { kind: 'removed' };
  },
);

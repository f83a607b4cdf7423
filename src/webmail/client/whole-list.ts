import { readAgain } from './actions.ts';
import { type BatchControl, eachBatch, runInBatches } from './batch-run.ts';
import { chunks } from './chunks.ts';
import { sendPatches } from './email-changes.ts';
import type { EmailPatch } from './email-patches.ts';
import { MailError, maxObjects, methods } from './jmap.ts';
import { loadFolders, type ThreadMember } from './mail-state.ts';
import { attempt, hideNotice, showNotice, showProblem } from './notices.ts';
import { clearSelection, selectedCount, wholeList } from './selection.ts';
import { MEMBER } from './mail-requests.ts';
import { listQuery } from './thread-list.ts';
import { t } from './translate.ts';

/** Ids that one query asks for; the server may return fewer. */
const PAGE = 5_000;
/** Conversations of one batch: few enough that the reader can stop between two. */
const CONVERSATIONS = 100;

type UndoPatches = ReadonlyMap<string, EmailPatch>;

/** An action on all conversations of a list. */
export interface WholeListAction {
  /** Its name, beside the progress. */
  label: string;
  /** Acts on all emails of some conversations. Returns what takes that back. */
  run: (emails: readonly ThreadMember[]) => Promise<UndoPatches>;
  /** Says what was done. */
  done: (count: number) => string;
}

/** Progress of an action, in conversations. */
interface ActionOutcome {
  done: number;
  total: number;
  isStopped: boolean;
  undo: Map<string, EmailPatch>;
}

/** Carries an action out on the conversations of the list that is selected as a whole. */
export function actOnWholeList(action: WholeListAction): Promise<void> {
  return attempt(async () => {
    const except = wholeList()?.except ?? new Set<string>();
    const outcome: ActionOutcome = { done: 0, total: selectedCount(), isStopped: false, undo: new Map() };
    const query = listQuery();
    let problem = '';
    try {
      await runInBatches(action.label, outcome.total, async (control) => {
        clearSelection();
        const ids = await idsOf(query, control);
        await runAction(action, { ids, except, control, outcome });
      });
    } catch (error) {
      if (!(error instanceof MailError) || outcome.done === 0) throw error;
      problem = error.message;
    }
    await Promise.all([readAgain(), loadFolders()]);
    showOutcome(action, outcome, problem);
  });
}

interface ActionScope {
  /** An email of each conversation. */
  ids: readonly string[];
  /** Ids of conversations that are left out. */
  except: ReadonlySet<string>;
  control: BatchControl;
  outcome: ActionOutcome;
}

async function runAction({ run }: WholeListAction, { ids, except, control, outcome }: ActionScope): Promise<void> {
  // Conversations that are left out are known when they are loaded.
  outcome.total = Math.max(0, ids.length - except.size);
  const handled = await eachBatch(control, chunks(ids, CONVERSATIONS), async (batch) => {
    const { emails, count } = await conversationsOf(batch, except);
    for (const [id, patch] of await run(emails)) outcome.undo.set(id, patch);
    outcome.done += count;
  });
  outcome.isStopped = handled < ids.length;
}

function showOutcome(action: WholeListAction, outcome: ActionOutcome, problem: string): void {
  const { done, total, isStopped, undo } = outcome;
  const takeBack = undo.size > 0 ? () => undoAll(undo) : undefined;
  if (problem !== '') showProblem(t('batch.failed', { done, total, why: problem }), takeBack);
  else showNotice(isStopped ? t('batch.stopped', { done, total }) : action.done(done), takeBack);
}

/** Reads the ids of a list before anything is changed: what arrives later is left alone, and no row moves under the pages. */
async function idsOf(query: Record<string, unknown>, control: BatchControl): Promise<string[]> {
  const found = new Set<string>();
  for (let position = 0; !control.isCancelled();) {
    const [result = {}] = await methods(['Email/query', { ...query, position, limit: PAGE }]);
    const ids = (result['ids'] ?? []) as string[];
    for (const id of ids) found.add(id);
    position += ids.length;
    if (ids.length < Number(result['limit'] ?? PAGE)) break;
  }
  return [...found];
}

/** Loads all emails of conversations, each of which is named by one of its emails. */
async function conversationsOf(
  ids: readonly string[],
  except: ReadonlySet<string>,
): Promise<{ emails: ThreadMember[]; count: number }> {
  const [, threads] = await methods(
    ['Email/get', { ids, properties: ['threadId'] }],
    ['Thread/get', { '#ids': { resultOf: '0', name: 'Email/get', path: '/list/*/threadId' } }],
  );
  const all = (threads?.['list'] ?? []) as { id: string; emailIds: string[] }[];
  const chosen = all.filter(({ id }) => !except.has(id));
  const emails: ThreadMember[] = [];
  for (const part of chunks(
    chosen.flatMap(({ emailIds }) => emailIds),
    maxObjects().get,
  )) {
    const [result] = await methods(['Email/get', { ids: part, properties: MEMBER }]);
    emails.push(...((result?.['list'] ?? []) as ThreadMember[]));
  }
  return { emails, count: chosen.length };
}

/** Takes back what an action did, in batches. What is stopped can go on with another undo. */
async function undoAll(undo: Map<string, EmailPatch>): Promise<void> {
  hideNotice();
  const total = undo.size;
  await runInBatches(t('button.undo'), total, (control) =>
    eachBatch(control, chunks([...undo], maxObjects().set), async (batch) => {
      await sendPatches(new Map(batch), true);
      for (const [id] of batch) undo.delete(id);
    }),
  );
  await Promise.all([readAgain(), loadFolders()]);
  if (undo.size > 0) showNotice(t('batch.stopped', { done: total - undo.size, total }), () => undoAll(undo));
  else showNotice(t('batch.undone'));
}

import type { Capability } from '../extensions.ts';
import type { ImapCommand } from '../command.ts';
import { deleteAcl, getAcl, listRights, myRights, setAcl } from './acl.ts';
import { append } from './append.ts';
import { authenticate } from './authenticate.ts';
import { capability } from './capability.ts';
import { close, unselect } from './close.ts';
import { compress } from './compress.ts';
import { copy, move } from './copy.ts';
import { create } from './create.ts';
import { remove } from './delete.ts';
import { cancelUpdate } from './cancelupdate.ts';
import { enable } from './enable.ts';
import { esearch } from './esearch.ts';
import { expunge } from './expunge.ts';
import { fetch } from './fetch.ts';
import { id } from './id.ts';
import { idle } from './idle.ts';
import { getJmapAccess } from './jmap-access.ts';
import { list, lsub } from './list.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { getMetadata, setMetadata } from './metadata.ts';
import { namespace } from './namespace.ts';
import { check, noop } from './noop.ts';
import { notify } from './notify.ts';
import { getQuota, getQuotaRoot, setQuota } from './quota.ts';
import { rename } from './rename.ts';
import { replace } from './replace.ts';
import { search, sort, thread } from './search.ts';
import { examine, select } from './select.ts';
import { starttls } from './starttls.ts';
import { status } from './status.ts';
import { store } from './store.ts';
import { subscribe, unsubscribe } from './subscribe.ts';
import { unauthenticate } from './unauthenticate.ts';
import { uidBatches } from './uidbatches.ts';

/** All commands. */
export const COMMANDS = [
  capability,
  noop,
  logout,
  id,
  starttls,
  authenticate,
  login,
  unauthenticate,
  compress,
  getJmapAccess,
  enable,
  list,
  lsub,
  subscribe,
  unsubscribe,
  namespace,
  create,
  remove,
  rename,
  status,
  getQuotaRoot,
  getQuota,
  setQuota,
  getMetadata,
  setMetadata,
  setAcl,
  deleteAcl,
  getAcl,
  listRights,
  myRights,
  select,
  examine,
  append,
  replace,
  idle,
  notify,
  check,
  close,
  unselect,
  expunge,
  search,
  sort,
  thread,
  esearch,
  cancelUpdate,
  uidBatches,
  fetch,
  store,
  copy,
  move,
] as ImapCommand<unknown>[];

/** Commands by name: `FETCH`, `UID FETCH`. */
export const COMMANDS_BY_VERB: ReadonlyMap<string, ImapCommand<unknown>> = new Map(
  COMMANDS.flatMap((command) => [
    [command.name, command] as const,
    ...(command.uidForm === true ? [[`UID ${command.name}`, command] as const] : []),
  ]),
);

/** Capabilities of all commands. */
export const COMMAND_CAPABILITIES: readonly Capability[] = COMMANDS.flatMap((command) => command.capabilities ?? []);

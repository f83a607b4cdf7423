import type { ImapCommand } from '../command.ts';
import { append } from './append.ts';
import { authenticate } from './authenticate.ts';
import { capability } from './capability.ts';
import { close, unselect } from './close.ts';
import { copy, move } from './copy.ts';
import { create } from './create.ts';
import { remove } from './delete.ts';
import { enable } from './enable.ts';
import { expunge } from './expunge.ts';
import { fetch } from './fetch.ts';
import { id } from './id.ts';
import { idle } from './idle.ts';
import { list, lsub } from './list.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { namespace } from './namespace.ts';
import { check, noop } from './noop.ts';
import { rename } from './rename.ts';
import { search } from './search.ts';
import { examine, select } from './select.ts';
import { starttls } from './starttls.ts';
import { status } from './status.ts';
import { store } from './store.ts';
import { subscribe, unsubscribe } from './subscribe.ts';

/** All commands. */
export const COMMANDS = [
  capability,
  noop,
  logout,
  id,
  starttls,
  authenticate,
  login,
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
  select,
  examine,
  append,
  idle,
  check,
  close,
  unselect,
  expunge,
  search,
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
export const COMMAND_CAPABILITIES: readonly string[] = COMMANDS.flatMap((command) => command.capabilities ?? []);

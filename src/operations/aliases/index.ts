import type { Operation } from '../operation.ts';
import { removeAliasOf, updateAlias } from './change.ts';
import { createAlias } from './create.ts';
import { listAliases } from './list.ts';

export const ALIASES: readonly Operation[] = [createAlias, listAliases, updateAlias, removeAliasOf];

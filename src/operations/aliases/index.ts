import type { Operation } from '../../core/operation.ts';
import { removeAliasOf, updateAlias, listAliases } from './change.ts';
import { createAlias } from './create.ts';

export const ALIASES: readonly Operation[] = [createAlias, listAliases, updateAlias, removeAliasOf];

import type { Operation } from '../../core/operation.ts';
import { exportMailbox, getExport } from './exports.ts';
import { cancelImport, getImport, listImports, startImport } from './imports.ts';

export const TRANSFERS: readonly Operation[] = [startImport, getImport];

/** For people alone. */
export const TRANSFER_CARE: readonly Operation[] = [listImports, cancelImport, exportMailbox, getExport];

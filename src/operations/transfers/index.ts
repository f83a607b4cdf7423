import type { Operation } from '../../core/operation.ts';
import { exportMailbox, getExport } from './exports.ts';
import { cancelImport, getImport, listImports, startImport, startUpload } from './imports.ts';

export const TRANSFERS: readonly Operation[] = [startImport, getImport];

/** For people alone. */
export const TRANSFER_CARE: readonly Operation[] = [listImports, startUpload, cancelImport, exportMailbox, getExport];

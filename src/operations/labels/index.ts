import type { Operation } from '../../core/operation.ts';
import { createLabel, deleteLabel, listLabels } from './labels.ts';

export const LABELS: readonly Operation[] = [listLabels, createLabel, deleteLabel];

import type { Operation } from '../../core/operation.ts';
import { createDraft, deleteDraft, getDraft, listDrafts, updateDraft, sendDraft } from './drafts.ts';
import { forwardEmail } from './forward.ts';
import { replyToEmail } from './reply.ts';
import { uploadAttachmentUrl } from './upload.ts';

export const WRITING: readonly Operation[] = [
  replyToEmail,
  forwardEmail,
  createDraft,
  updateDraft,
  getDraft,
  listDrafts,
  deleteDraft,
  sendDraft,
  uploadAttachmentUrl,
];

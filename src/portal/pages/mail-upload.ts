import { secret } from '../components.ts';
import { EMPTY_FORM, field, type FormState } from '../forms.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import { actionForm, collapsedForm, formStateFor, operationAction, type PageState } from '../page.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, type Visit } from '../visit.ts';
import type { startUpload } from '../../operations/transfers/imports.ts';

/** Creates the URL of an upload. The script of the form reads it from the panel. */
export const createUpload = operationAction(
  'start_upload',
  (result, { request }) => {
    const { putUrl } = result as OutputOf<typeof startUpload>;
    const t = translatorOf(request);
    return { kind: 'shown', panel: secret(t('import.upload-panel'), [['URL', putUrl]], t('import.upload-once')) };
  },
  (fields) => ({
    address: fields.line('address'),
    folder: fields.line('folder'),
    fileName: fields.line('fileName')?.slice(0, 255),
  }),
);

/**
 * The forms to upload a file of mail: one whose script (client/mail-upload.ts) sends the file in parts and shows the progress, and
 * one that creates a URL for a terminal. Without scripts the first one is hidden.
 */
export function mailUploadForms(t: Translator, visit: Visit, state: PageState): HtmlPart {
  const fields = [mailboxField(t, 'file', EMPTY_FORM), fileField(t), folderField(t, 'file', EMPTY_FORM)];
  const refused = formStateFor(state, 'upload');
  return [
    html`<details class="more" data-mail-upload hidden>
      <summary>${t('import.upload-title')}</summary>
      ${actionForm(visit, 'upload', t('import.upload'), [...fields, uploadProgress(t)])}
    </details>`,
    collapsedForm(visit, state, 'upload', t('import.terminal-title'), t('import.create-url'), [
      mailboxField(t, 'upload', refused),
      folderField(t, 'upload', refused),
    ]),
  ];
}

function mailboxField(t: Translator, form: string, state: FormState): Html {
  const one = { label: t('import.mailbox-here'), placeholder: 'ann@example.org', id: `${form}-address` };
  return field({ name: 'address', ...one }, state);
}

function fileField(t: Translator): Html {
  return html`<div>
    <label for="mail-file">${t('import.file')}</label>
    <p class="hint" id="mail-file-hint">${t('import.file-hint')}</p>
    <input type="file" id="mail-file" required aria-describedby="mail-file-hint" />
  </div>`;
}

function folderField(t: Translator, form: string, state: FormState): Html {
  const words = { label: t('deleted.folder'), optional: t('field.optional'), hint: t('import.folder-hint') };
  return field({ name: 'folder', value: t('import.folder'), ...words, id: `${form}-folder` }, state);
}

function uploadProgress(t: Translator): Html {
  return html`<div>
    <progress aria-label="${t('import.upload-panel')}" max="100" value="0" hidden></progress>
    <p class="small" role="status"></p>
    <p class="wrong" role="alert"></p>
    <button type="button" class="quiet" data-stop hidden>${t('import.stop')}</button>
  </div>`;
}

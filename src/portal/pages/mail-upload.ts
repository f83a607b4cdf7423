import { secret } from '../components.ts';
import { EMPTY_FORM, field, type FormState } from '../forms.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import { actionForm, collapsedForm, formStateFor, operationAction, type PageState } from '../page.ts';
import { type OutputOf, type Visit } from '../visit.ts';
import type { startUpload } from '../../operations/transfers/imports.ts';

/** Folder that the forms name first. */
const FOLDER = 'Imported';

/** Creates the URL of an upload. The script of the form reads it from the panel. */
export const createUpload = operationAction(
  'start_upload',
  (result) => {
    const { putUrl } = result as OutputOf<typeof startUpload>;
    const about = 'Valid for a day. Upload the file with: curl -T FILE "URL". The import starts at its end.';
    return { kind: 'shown', panel: secret('Upload', [['URL', putUrl]], about) };
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
export function mailUploadForms(visit: Visit, state: PageState): HtmlPart {
  const body = [mailboxField('file', EMPTY_FORM), fileField(), folderField('file', EMPTY_FORM), uploadProgress()];
  const refused = formStateFor(state, 'upload');
  return [
    html`<details class="more" data-mail-upload hidden>
      <summary>Upload a file</summary>
      ${actionForm(visit, 'upload', 'Import', body)}
    </details>`,
    collapsedForm(visit, state, 'upload', 'From a terminal', 'Create upload URL', [
      mailboxField('upload', refused),
      folderField('upload', refused),
    ]),
  ];
}

function mailboxField(form: string, state: FormState): Html {
  const id = `${form}-address`;
  return field({ name: 'address', label: 'Mailbox here', placeholder: 'ann@example.org', id }, state);
}

function fileField(): Html {
  return html`<div>
    <label for="mail-file">File</label>
    <p class="hint" id="mail-file-hint">
      An mbox or EML file, or a zip of such files, a Maildir or a Google Takeout. Part of it may be here: nothing is
      added twice.
    </p>
    <input type="file" id="mail-file" required aria-describedby="mail-file-hint" />
  </div>`;
}

function folderField(form: string, state: FormState): Html {
  const hint = 'Folders of a zip file go below it. Leave it empty to keep them as they are.';
  return field({ name: 'folder', label: 'Folder', value: FOLDER, optional: true, hint, id: `${form}-folder` }, state);
}

function uploadProgress(): Html {
  return html`<div>
    <progress aria-label="Upload" max="100" value="0" hidden></progress>
    <p class="small" role="status"></p>
    <p class="wrong" role="alert"></p>
    <button type="button" class="quiet" data-stop hidden>Stop</button>
  </div>`;
}

import { address } from '../portal/parts.ts';
import { hidden } from '../portal/forms.ts';
import { html, type Html } from '../portal/html.ts';
import { narrowPage } from '../portal/layout.ts';

/** How it stands between a recipient and an organization. */
export interface Standing {
  organization: string;
  recipient: string;
  unsubscribed: boolean;
}

/** One thing to do, and after it the way back. */
export function subscriptionPage(standing: Standing): string {
  return standing.unsubscribed ? done(standing) : ask(standing);
}

function ask({ organization, recipient }: Standing): string {
  const body = html`<h1>Unsubscribe</h1>
    <p>
      <strong>${address(recipient)}</strong> will get no more mail from the programs of
      <strong>${organization}</strong>.
    </p>
    ${form('List-Unsubscribe', 'One-Click', html`<button>Unsubscribe</button>`)}`;
  return narrowPage({ title: 'Unsubscribe', body });
}

function done({ organization, recipient }: Standing): string {
  const body = html`<h1>You are unsubscribed</h1>
    <p role="status">
      The programs of <strong>${organization}</strong> write to <strong>${address(recipient)}</strong> no more. What was
      on its way may still come.
    </p>
    ${form('undo', '1', html`<button class="text">This was a mistake: subscribe again</button>`)}`;
  return narrowPage({ title: 'You are unsubscribed', body });
}

/** To the page itself, whose address is the authority. */
function form(name: string, value: string, button: Html): Html {
  return html`<form class="plain" method="post">${hidden(name, value)} ${button}</form>`;
}

export function notice(title: string, text: string): string {
  return narrowPage({
    title,
    body: html`<h1>${title}</h1>
      <p>${text}</p>`,
  });
}

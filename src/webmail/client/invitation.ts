import type { ComponentChild } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { calendarPart } from './calendar-part.ts';
import type { FullEmail, MessagePart } from './jmap-types.ts';
import { attempt } from './notices.ts';
import { html } from './view.ts';

type InvitationView = (given: { email: FullEmail; part: MessagePart }) => ComponentChild;

/** The invitation of a message. What reads calendars is loaded with the first one. */
export function Invitation({ email }: { email: FullEmail }) {
  const part = calendarPart(email.attachments);
  const [View, setView] = useState<InvitationView>();
  useEffect(() => {
    if (part === undefined) return;
    void attempt(async () => {
      const { InvitationCard } = await import('./calendar/invitation-card.ts');
      setView(() => InvitationCard);
    });
  }, [part?.blobId]);
  if (part === undefined || View === undefined) return null;
  return html`<${View} key=${part.blobId} email=${email} part=${part} />`;
}

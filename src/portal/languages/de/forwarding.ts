import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about forwards. */
export const forwarding = {
  'forwarding.saved':
    'Weiterleitung gespeichert. Die Absenderadresse bleibt unverändert; ein Ziel, das SPF durchsetzt, kann daher manche E-Mails ablehnen.',
  'forwarding.removed': 'Weiterleitung gelöscht.',
  'forwarding.policy-changed': 'Richtlinie geändert.',
  'forwarding.about': 'Adressen, deren E-Mails an eine andere Adresse weitergeleitet werden.',
  'forwarding.none': 'Keine Weiterleitungen',
  'forwarding.none-text': 'Eine weitergeleitete Adresse braucht eine Domain, aber kein Postfach.',
  'forwarding.forwards': 'Weiterleitungen',
  'forwarding.copy': 'Lokale Kopie',
  'forwarding.pending': 'Ausstehend',
  'forwarding.no-mailbox': 'Kein Postfach',
  'forwarding.kept': 'Behalten',
  'forwarding.no-copy': 'Keine',
  'forwarding.remove-question': 'E-Mails für {source} werden nicht mehr an {destination} weitergeleitet.',
  'forwarding.add-title': 'Eine Adresse weiterleiten',
  'forwarding.add': 'Weiterleitung anlegen',
  'forwarding.keep': 'Eine Kopie im lokalen Postfach behalten, falls es eines gibt',
  'forwarding.confirmation': 'Bestätigung durch das Ziel',
  'forwarding.confirmed': 'Externe Ziele müssen per E-Mail bestätigen, bevor E-Mails an sie weitergeleitet werden.',
  'forwarding.unconfirmed': 'Neue Weiterleitungen sind sofort aktiv, ohne Bestätigung durch das Ziel.',
  'forwarding.confirm': 'Bestätigung verlangen',
  'forwarding.confirm-off': 'Keine Bestätigung verlangen',
} satisfies Partial<PortalCatalog>;

import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about the set-up of an organization, and of a phone. */
export const setup = {
  'setup.claimed': 'Der Server gehört Ihnen. Richten Sie unten Ihre erste Domain ein.',
  'setup.added': 'Domain hinzugefügt.',
  'setup.checked':
    'Einträge geprüft. Fehlende oder falsche sind unten markiert; bis neue Einträge sichtbar sind, kann eine Stunde vergehen.',
  'setup.made': 'Postfach angelegt.',
  'setup.all-done': 'Alle Schritte sind erledigt.',
  'setup.back': 'Zurück zur Übersicht',
  'setup.next': '{done} von {all} Schritten erledigt. Als Nächstes: {step}.',
  'setup.done': 'Erledigt',
  'setup.open': 'Offen',
  'setup-step.owner': 'Inhaber',
  'setup-step.domain': 'Domain',
  'setup-step.dns': 'DNS-Einträge',
  'setup-step.mailbox': 'Erstes Postfach',
  'setup-step.phone': 'Telefon oder Mailprogramm',
  'setup-you.owner': 'Sie sind {email}, Inhaber von {organization}.',
  'setup-you.admin': 'Sie sind {email}, Administrator von {organization}.',
  'setup-you.member': 'Sie sind {email}, Mitglied von {organization}.',
  'setup.health': '{health} zeigt Probleme mit Ports, Zertifikat, Reverse-DNS und Sperrlisten.',
  'setup.served': 'Dieser Server ist der Nameserver der Domain. Nichts zu veröffentlichen.',
  'setup.records-published': 'Die nötigen Einträge sind veröffentlicht.',
  'setup.after-domain': 'Wenn die Domain hinzugefügt ist.',
  'setup.after-mailbox': 'Wenn das Postfach angelegt ist.',
  'setup.before-at': 'Adresse, vor @{domain}',
  'setup.local-part': 'ihr-name',
  'setup.connected': 'Ein Gerät ist verbunden.',
  'setup.another': 'Weiteres hinzufügen',
  'setup.phone-about': 'Erstellt einen Link, der ein Gerät einrichtet, mit einem eigenen App-Passwort.',
  'setup.device-hint': 'Zum Beispiel „Kims Telefon“.',
  'setup.qr': 'QR-Code anzeigen',
  'setup.or': 'Oder {link}, um es in einem Mailprogramm einzugeben.',
  'setup.show-password': 'das Passwort anzeigen',
  'setup.scan': 'Scannen Sie diesen Code mit der Kamera des Telefons',
  'setup.open-link': 'Oder öffnen Sie diesen Link auf dem Gerät:',
  'setup.link': 'Link',
  'setup.once': 'Er funktioniert einmal, bis {time}.',

  'dns-way.delegate': 'Diesen Server alles veröffentlichen lassen (Nameserver ändern)',
  'dns-way.delegate-text':
    'Tragen Sie diese Nameserver für {domain} bei ihrem Registrar ein. Dieser Server veröffentlicht dann alle Einträge und wechselt die DKIM-Schlüssel von selbst. Müssen Einträge anderer Dienste (einer Website) bleiben, wo sie sind, veröffentlichen Sie von Hand.',
  'dns-way.server': 'Nameserver {number}',
  'dns-way.servers': 'Nameserver',
  'dns-way.provider':
    'Die Einträge bei einem DNS-Anbieter veröffentlichen (Cloudflare, Hetzner, Route 53, RFC 2136 und andere)',
  'dns-way.provider-text':
    'Neue Einträge werden sofort veröffentlicht. Wo Einträge anderer im Weg sind, sehen Sie zuerst die Änderungen.',
  'dns-way.hand': 'Die Einträge von Hand veröffentlichen',
  'dns-way.hand-text': 'Legen Sie diese Einträge beim DNS-Anbieter der Domain an.',
  'dns-way.the-value': 'Wert',
} satisfies Partial<PortalCatalog>;

import { collectData, createCommand, createOption } from '../command.js';

interface TrackInput {
  readonly email: string;
  readonly event: string;
  readonly data?: Record<string, unknown>;
}

/** `postreel track` */
export const track = createCommand<TrackInput>({
  name: 'track',
  about: 'track an event of a contact, which may start workflows',
  args: [
    ['<email>', 'contact; a new one is created'],
    ['<event>', 'name of the event'],
  ],
  options: [
    createOption(
      '--data <name=value>',
      'data of the event; may be given several times',
      collectData,
    ),
  ],
  examples: ['track ann@example.com signed_up --data plan=pro --yes'],
  plan: async ({ email, event, data }, context) => {
    const { output, signal } = context;
    const messaging = await context.messaging();
    return {
      action: 'Track 1 event',
      facts: { event, email, data: data && JSON.stringify(data) },
      run: async () => {
        const body = { email, event, ...(data && { data }) };
        const tracked = await messaging.track(body, { signal });
        output.result(tracked, () => `${output.paint('green', 'tracked')} ${event} of ${email}`);
      },
    };
  },
});

import type { Channel, Tab } from '../tab.js';
import { within } from '../wait.js';
import { type Decisions, decisionsOf, isAhead } from './decisions.js';
import { noteDecisions, sweep } from './protocol.js';

/** A tab that has not answered for so long is gone, or cannot run: its events may be claimed. */
const MAX_SILENCE = 3000;

/** What tabs tell each other; other scripts of the origin may send anything. */
interface Message {
  /** Asks all tabs to answer. */
  readonly isQuestion?: unknown;
  /** The tab that answers. */
  readonly owner?: unknown;
  readonly decisions?: unknown;
}

/** The other tabs of the origin, over a BroadcastChannel: it holds nothing, as a lock would. */
export const createChannel = (tab: Tab): Channel => {
  let channel: BroadcastChannel | undefined;
  /** Called with each tab that answers. */
  const questions = new Set<(owner: unknown) => void>();
  const post = (message: Message) => channel?.postMessage(message);
  const answer = () => post({ owner: tab.owner, decisions: tab.decisions });
  const onMessage = ({ isQuestion, owner, decisions }: Message) => {
    const heard = decisionsOf(decisions);
    noteDecisions(tab, heard);
    sweep(tab);
    if (isQuestion || isAhead(tab.decisions, heard)) {
      answer();
    }
    questions.forEach((onAnswer) => onAnswer(owner));
  };
  return {
    open: () => {
      try {
        channel ??= new BroadcastChannel(tab.prefix);
        channel.onmessage = ({ data }: MessageEvent) => onMessage(Object(data) as Message);
        // A denial that no store has any more is known to the tabs that are open.
        post({ isQuestion: true, decisions: tab.decisions });
      } catch {
        // Absent in old browsers: the stores tell, a little later.
      }
    },
    close: () => {
      channel?.close();
      channel = undefined;
    },
    tell: (decisions: Decisions) => post({ decisions }),
    findSilent: async (owners) => {
      if (!channel) {
        return undefined;
      }
      const silent = new Set<unknown>(owners);
      const allAnswered = new Promise<void>((resolve) => {
        questions.add((owner) => {
          silent.delete(owner);
          if (!silent.size) {
            resolve();
          }
        });
      });
      post({ isQuestion: true, decisions: tab.decisions });
      await within(MAX_SILENCE, allAnswered);
      questions.clear();
      return silent as ReadonlySet<string>;
    },
  };
};

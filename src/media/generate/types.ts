import type { OpenRecord } from '../../core/values.js';

/** The source of a video: a script, the article at a URL, or an idea. */
export type VideoSource = ScriptOrArticle | Idea;

// The parts of the unions have names, because the compiler writes these names in its messages. They are aliases: an
// alias without a public name is replaced by its structure in the declarations of users.

type ScriptOrArticle = {
  workflowType: 'script' | 'url';
  /** The script's text, or the article's URL. At most 10 000 characters. */
  content: string;
  prompt?: string | undefined;
};

type Idea = {
  workflowType: 'idea';
  /** The topic. At most 10 000 characters. */
  prompt: string;
  content?: string | undefined;
};

/** The visuals of a video: stock footage, AI images, or your images. */
export type VideoVisuals = StockFootage | AiImages | ImageLibrary;

type StockFootage = {
  /** @default 'stock' */
  visuals?: 'stock' | undefined;
  /** Public image URLs to use along with the stock footage, at most 100. */
  mediaUrls?: readonly string[] | undefined;
  /** The service uses it only if `visuals` is `'ai'`. */
  artStyle?: ArtStyle | undefined;
  aiVideoModel?: never;
  aiVideoClipPercentage?: number | undefined;
};

type AiImages = {
  visuals: 'ai';
  /** Public image URLs to use along with the AI images, at most 100. */
  mediaUrls?: readonly string[] | undefined;
  /** @default 'cinematic' */
  artStyle?: ArtStyle | undefined;
  /** Fills some scenes with AI video clips; paid plans only. */
  aiVideoModel?: AiVideoModel | undefined;
  /**
   * The share of scenes with AI video clips, 0 to 100. Only takes effect with `aiVideoModel`.
   * @default 20
   */
  aiVideoClipPercentage?: number | undefined;
};

type ImageLibrary = {
  visuals: 'library';
  /** Public image URLs, at most 100. */
  mediaUrls: readonly string[];
  /** The service uses it only if `visuals` is `'ai'`. */
  artStyle?: ArtStyle | undefined;
  aiVideoModel?: never;
  aiVideoClipPercentage?: number | undefined;
};

/** The style of AI images. */
export type ArtStyle =
  | 'cinematic'
  | 'realistic'
  | 'anime'
  | 'illustration'
  | 'comicBook'
  | 'threeDimensionModel'
  | 'fantasyArt'
  | 'waterColor'
  | 'lineArt'
  | 'modelingCompound'
  | 'whimsical'
  | 'biblical'
  | 'filmNoir'
  | 'tinyWorld'
  | 'technicalIllustration';

/** The model of AI video clips. The document uses neutral names, so any other name passes too. */
export type AiVideoModel =
  | 'ai-video-a-pro-fast'
  | 'ai-video-b'
  | 'ai-video-c-v5-fast'
  | 'ai-video-d-2-fast'
  | 'ai-video-e-2.5-turbo'
  | (string & {});

/** Settings that apply to every source and all visuals. */
export interface VideoSettings {
  /** The only format. Added automatically when you leave it out. */
  workflowFormat?: 'video' | undefined;
  /** The voice that narrates. The voice of a brand kit is never used. */
  voiceId: string;
  /** @default '16:9' */
  aspectRatio?: '16:9' | '9:16' | '1:1' | undefined;
  /** @default '1080p' */
  resolution?: '1080p' | '720p' | '480p' | '360p' | undefined;
  /** @default 'mp4' */
  extension?: 'mp4' | 'mov' | undefined;
  /** The target length in minutes, 1 to 15, within your plan's maximum export length. */
  duration?: number | undefined;
  /** The animation of AI images. Has no effect with stock footage. */
  imageAnimationPreset?: 'None' | 'Mix:Subtle Flow' | 'Mix' | 'Mix:Dramatic' | undefined;
  /**
   * The volume of the music, from 0 (muted) to 100.
   * @default 20
   */
  bgMusicVolume?: number | undefined;
  /**
   * Sound effects for each scene.
   * @default true
   */
  generateSfx?: boolean | undefined;
  /**
   * Pauses between sentences.
   * @default false
   */
  addPauses?: boolean | undefined;
  /** Only takes effect without `templateId`. */
  subtitlePresetId?: string | undefined;
  /**
   * Highlights the word being spoken.
   * @default false
   */
  highlightSubtitles?: boolean | undefined;
  templateId?: string | undefined;
  /** A brand kit: logo, intro, outro, colours and fonts. Its intro and outro lengthen the video. */
  brandId?: string | undefined;
  /**
   * The places where a new scene starts.
   * @default 'auto'
   */
  sceneBreakdown?: 'auto' | 'lineBreak' | 'sentence' | undefined;
  /** @default 'Untitled file' */
  fileName?: string | undefined;
  /**
   * Exports the video once it is generated.
   * @default false
   */
  shouldExport?: boolean | undefined;
}

/**
 * One video to generate. Use `satisfies` for a job in a variable, so that its literal types are kept.
 * @example
 * const job = { workflowType: 'idea', prompt: 'Why cats purr', voiceId: 'voice_1' } satisfies VideoJob;
 */
export type VideoJob = VideoSettings & VideoSource & VideoVisuals;

/** Videos to generate with one call. */
export interface VideoRequest {
  /** One file is created for each job. */
  payload: readonly VideoJob[];
  /** The name of the new folder. Has no effect along with `folderId`. */
  file?: string | undefined;
  /** The folder for the files. Without it, a new one is created. */
  folderId?: string | undefined;
}

/** The response to a video request. */
export interface VideoAccepted {
  folderId: string;
  /** One file id per job, in the order of the payload. */
  filesCreated: string[];
}

/** Text to be spoken. */
export interface AudioRequest {
  /** At most 10 000 characters. For longer text use `generate.longAudio()`. */
  content: string;
  voiceId: string;
  voiceStyleId?: string | null | undefined;
  /**
   * The speed, 0.5 to 2.0.
   * @default 1.0
   */
  playbackRate?: number | undefined;
  /** @default 'mp3' */
  format?: 'mp3' | 'wav' | undefined;
  /** Words that are pronounced differently from how they are written. */
  pronunciations?: readonly Pronunciation[] | undefined;
  /** A public URL that the service calls with POST when the job finishes. Calls are not signed. */
  webhook?: string | undefined;
}

/** Text of any length to be spoken. */
export interface LongAudioRequest extends Omit<AudioRequest, 'webhook'> {
  /**
   * A public URL that the service calls with POST when a part finishes, or a function that returns a URL for
   * each part, counted from 0. A signed URL accepts only one callback, so signed URLs need the function.
   */
  webhook?: string | ((index: number) => string | PromiseLike<string>) | undefined;
}

/** The position of a part in a longer text. */
export interface TextRange {
  /** The offset of its first character, in UTF-16 units as in `text.slice(start, end)`. */
  readonly start: number;
  /** The offset after its last character. */
  readonly end: number;
}

/** A word and how to pronounce it. */
export interface Pronunciation {
  original: string;
  replace: string;
}

/** The response to an audio request. */
export interface AudioAccepted {
  fileId: string;
}

/** The query of a status check. */
export interface StatusQuery {
  fileId: string;
}

/** A file's status. */
export type FileStatus = 'queued' | 'processing' | 'success' | 'error' | 'canceled' | (string & {});

/** The status and progress of a file. */
export interface StatusRecord extends OpenRecord {
  fileId: string;
  status: FileStatus;
  /** The progress as the service sends it. Its document gives neither a unit nor a range. */
  progress?: number | undefined;
  /** The download URL of the file, once `status` is `success`. */
  download?: string | undefined;
}

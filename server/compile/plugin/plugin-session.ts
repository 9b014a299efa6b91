// The interface between the plugin and a development session.

import type { EnvironmentModuleNode, HtmlTagDescriptor, ViteDevServer } from "vite";

import type { ApplicationConfig } from "../../config/config-types.ts";
import type { Application } from "../cut/application.ts";
import type { ApplicationReader } from "../application-reader.ts";

/** A development session, as the plugin uses it. */
export interface PluginSession {
  /** The last application without mistakes. Rejects with `Problems` if there hasn't been one. */
  application(): Promise<Application>;
  /** The id of the part at an address, as written in pages or in other parts. */
  partAt(source: string): string;
  /** The modules that Vite should update after a change. */
  hotUpdate(
    environment: string,
    file: string,
    modules: EnvironmentModuleNode[],
  ): Promise<EnvironmentModuleNode[] | undefined>;
  /** The key `fallback` of the configuration. */
  fallback(): Promise<ApplicationConfig["fallback"]>;
  /** Tags for the head of every page. */
  pageTags(): Promise<HtmlTagDescriptor[]>;
}

/** The settings that `seamline dev` passes to the plugin. */
export interface SessionParts {
  readonly config: string | undefined;
  /** Opens the session; called again after Vite restarts. */
  readonly open: (server: ViteDevServer, reader: ApplicationReader) => PluginSession;
}
